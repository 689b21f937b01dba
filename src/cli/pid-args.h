/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * PID arguments: the processes to attach or detach, and the result of each
 */

#include "attach/process-filter.h"
#include "cli/options.h"

#include <jansson.h>
#include <sys/types.h>

typedef struct PidArgs {
        GArray *pids; /* owned, of pid_t */
        bool is_json;
        bool has_failed;
        GError *failure; /* owned or NULL: the last failure, which main() prints */
} PidArgs;

/* Takes the given PIDs, or with --user or --all the PIDs of .NET processes. */
bool pid_args_init(PidArgs *args, const Options *options, GError **error);
void pid_args_clear(PidArgs *args);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(PidArgs, pid_args_clear)

/* The uid of --user. False with ERROR set: no such user. */
bool pid_args_user(const Options *options, uid_t *ret_uid, GError **error);

/* The rules of --exclude; the caller owns it. NULL with ERROR set: a rule is wrong. */
ProcessFilter *pid_args_filter(const Options *options, GError **error);

/* Reports at once that PID failed. Takes over ERROR. */
void pid_args_fail(PidArgs *args, pid_t pid, GError *error);
/* True if nothing failed; else ERROR is the last failure. */
bool pid_args_end(PidArgs *args, GError **error);

/* Prints VALUE, which it takes over, as a line of JSON. */
void pid_args_print_json(json_t *value);

/* Appends "4711", with the pid in the process's own namespace if that differs. OF: an object of the
 * holder. */
void pid_args_append_name(GString *out, const json_t *of);
