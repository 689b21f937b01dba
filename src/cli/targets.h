/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Targets: the processes that are attached or detached, and what became of each
 */

#include "cli/options.h"

#include <jansson.h>
#include <sys/types.h>

typedef struct Targets {
        GArray *pids; /* owned, of pid_t */
        bool is_json;
        bool has_failed;
        GError *failure; /* owned or NULL: the last one, which is the program's to print */
} Targets;

/* The PIDs that were given, and with --user NAME those of that user. */
bool targets_init(Targets *targets, const Options *options, GError **error);
void targets_clear(Targets *targets);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Targets, targets_clear)

/* With --user: whose. False with ERROR set: there is no such user. */
bool targets_user(const Options *options, uid_t *ret_uid, GError **error);

/* Says, at once, that PID failed. Takes over ERROR. */
void targets_fail(Targets *targets, pid_t pid, GError *error);
/* True if nothing failed; else ERROR is the last failure. */
bool targets_end(Targets *targets, GError **error);

/* Prints VALUE, which it takes over, as a line of JSON. */
void targets_print_json(json_t *value);

/* "4711", or with its pid in a namespace of its own. OF is what a holder says of it. */
void targets_append_name(GString *out, const json_t *of);
