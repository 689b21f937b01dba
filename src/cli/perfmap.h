/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Perf maps: shared by the verb perfmap and its option --follow
 */

#include "cli/body-rows.h"
#include "cli/verbs.h"

/* One generation of a process. */
typedef struct Generation {
        ProcessName name;
        uint32_t number;
        uint64_t since, last; /* ns */
        bool has_exited;
} Generation;

/* The generations (Generation) in the reply of ListProcesses to PARAMETERS, which is taken over.
 * Owned by the caller; NULL with ERROR set. */
GArray *perfmap_generations(AnswerSource *source, json_t *parameters, GError **error);

/* Appends the perf map of an exited process, at the moment at which most of its code was alive. */
bool perfmap_append_last(GString *out, AnswerSource *source, Generation *generation,
                         GError **error);

/*
 * Updates the perf map of the process of GENERATION until it ends, or until a signal comes. False
 * with ERROR set.
 */
bool perfmap_follow(const Options *options, const Generation *generation, GError **error);
