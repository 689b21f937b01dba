/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Attach, and follow: attaches every .NET process that there is, and those that start later
 *
 * What the holder keeps attached stays so when we end. A process that somebody detaches is left
 * alone; if the holder itself was replaced, and does not have a process any more, it is attached
 * again.
 *
 * Users share the places of requests: each has so many at most, and the user who waits longest is
 * the next. A target that takes too long to answer gives its place to others.
 */

#include "attach/process-filter.h"
#include "cli/attach-manner.h"

#include <jansson.h>
#include <sys/types.h>

typedef struct FollowSettings {
        AttachManner *manner; /* this and the next borrowed */
        const ProcessFilter *filter;
        uid_t uid; /* of the processes; PROCESSES_ANY_USER */
        /* A process was attached: ANSWER is the holder's (borrowed). */
        void (*attached)(const json_t *answer, void *data);
        /* A process cannot be attached; ERROR is to be freed. It is tried again now and then. */
        void (*failed)(pid_t pid, GError *error, void *data);
        /* The processes of a user have reached a limit: TEXT (borrowed) is what, and what to do.
         * Called once for each user and limit. */
        void (*limited)(uid_t user, const char *text, void *data);
        void *data;
} FollowSettings;

G_NORETURN void attach_follow(const FollowSettings *settings);
