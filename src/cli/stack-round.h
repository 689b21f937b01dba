/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Stack round: the stacks of a process, walked by its own runtime
 *
 * Opens a session of the runtime's sampler at the diagnostic port. In each round, the runtime
 * suspends its threads and walks the stack of each that has run managed code. The first round
 * counts. The session is as short as possible, and it ends with this program, even if that is
 * killed.
 */

#include "cli/naming-job.h"

#include <glib.h>
#include <sys/types.h>

typedef struct StackRound StackRound;

/* For process PID of our own pid namespace. NULL with ERROR set: its runtime does not answer,
 * refuses, or has walked no stack. */
StackRound *stack_round_take(pid_t pid, GError **error);
/* NULL is fine. */
void stack_round_free(StackRound *round);

/* The directory with the session's file, see cli/perf-nettrace.h; owned by the round. */
const char *stack_round_path(const StackRound *round);
/* The threads of ROUND, borrowed. */
RoundThreads stack_round_threads(const StackRound *round);
/* Prints missing parts to stderr; IS_VERBOSE: also the duration. */
void stack_round_print_notes(const StackRound *round, bool is_verbose);
