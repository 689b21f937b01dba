/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Attach, and follow: attaches all running .NET processes, and those that start later
 *
 * When this program ends, the holder keeps the attachments. A process that somebody detaches stays
 * detached. If a new holder replaces the old one and lacks a process, that process is attached
 * again.
 *
 * Users share the places of requests: each user has a limit, and the user who waits longest is
 * next. A target that does not answer in time frees its place for others.
 */

#include "attach/process-filter.h"
#include "cli/attach-manner.h"

#include <jansson.h>
#include <sys/types.h>

typedef struct FollowSettings {
        AttachManner *manner; /* this and the next are borrowed */
        const ProcessFilter *filter;
        uid_t uid; /* user of the processes; PROCESSES_ANY_USER */
        /* Called when a process was attached: ANSWER is the holder's (borrowed). */
        void (*attached)(const json_t *answer, void *data);
        /* Called when a process cannot be attached; the callee frees ERROR. Retries follow. */
        void (*failed)(pid_t pid, GError *error, void *data);
        /* Called once for each user and limit that the user's processes have reached: TEXT
         * (borrowed) names the limit and the remedy. */
        void (*limited)(uid_t user, const char *text, void *data);
        void *data;
} FollowSettings;

G_NORETURN void attach_follow(const FollowSettings *settings);
