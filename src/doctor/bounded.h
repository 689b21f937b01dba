/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Bounded: work that may hang, in a process of its own, and not for long
 */

#include <glib.h>
#include <stdbool.h>

/* What came of it. */
typedef enum BoundedResult {
        BOUNDED_OK,
        BOUNDED_FAILED,  /* it ended with a status other than 0 */
        BOUNDED_TIMEOUT, /* it was killed */
        BOUNDED_NONE,    /* there is no such program */
} BoundedResult;

/* Runs COMMAND. RET_SAID, the caller's: what it wrote to its outputs. */
BoundedResult bounded_run(char **command, unsigned seconds, char **ret_said);
/* Calls WORK in a child, which writes to the descriptor that it is given. */
BoundedResult bounded_call(void (*work)(int fd, void *data), void *data, unsigned seconds,
                           char **ret_said);
