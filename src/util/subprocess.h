/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Subprocess: work that may hang, in a child process with a time limit
 */

#include <glib.h>
#include <stdbool.h>

typedef enum SubprocessResult {
        SUBPROCESS_OK,
        SUBPROCESS_FAILED,  /* it could not be started, or ended with a status other than 0 */
        SUBPROCESS_TIMEOUT, /* it took too long or printed too much, and was killed */
        SUBPROCESS_NONE,    /* there is no such program */
} SubprocessResult;

/*
 * Runs COMMAND, found on PATH. *RET_OUTPUT is what it wrote to stdout and stderr; the caller frees
 * it. It is NULL if the process could not be started.
 */
SubprocessResult subprocess_run(char **command, unsigned seconds, char **ret_output);
/* Calls WORK in a child. What it writes to the descriptor that it is given is *RET_OUTPUT. */
SubprocessResult subprocess_call(void (*work)(int fd, void *data), void *data, unsigned seconds,
                                 char **ret_output);
