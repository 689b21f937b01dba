/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Perf maps: what the verb perfmap and its option --follow have in common
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

/* Of Generation, as ListProcesses with PARAMETERS, which is taken over, has them. Owned by the
 * caller; NULL with ERROR set. */
GArray *perfmap_generations(AnswerSource *source, json_t *parameters, GError **error);

/* Appends the perf map of a process that has ended: of the moment at which most of its code was
 * alive. */
bool perfmap_append_last(GString *out, AnswerSource *source, Generation *generation,
                         GError **error);

/*
 * Keeps the perf map of the process of GENERATION true until it ends, or until a signal comes.
 * False with ERROR set.
 */
bool perfmap_follow(const Options *options, const Generation *generation, GError **error);
