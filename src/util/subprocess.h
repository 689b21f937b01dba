/* SPDX-License-Identifier: MIT */
#pragma once

/* Subprocess: work that can hang, in a child process with a timeout */

#include <glib.h>
#include <stdbool.h>

typedef enum SubprocessResult {
        SUBPROCESS_OK,
        SUBPROCESS_FAILED,  /* not started, or ended with a status other than 0 */
        SUBPROCESS_TIMEOUT, /* a timeout, or too much output; the child was killed */
        SUBPROCESS_NONE,    /* there is no such program */
} SubprocessResult;

/* Runs COMMAND, found on PATH. *RET_OUTPUT is its stdout and stderr; the caller frees it. It is
 * NULL if the process could not be started. */
SubprocessResult subprocess_run(char **command, unsigned seconds, char **ret_output);
/* Calls WORK in a child. *RET_OUTPUT is what WORK writes to its descriptor. */
SubprocessResult subprocess_call(void (*work)(int fd, void *data), void *data, unsigned seconds,
                                 char **ret_output);
