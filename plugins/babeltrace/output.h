/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Output: buffered text to a file or to stdout; a line that cannot be written is an error
 */

#include <glib.h>
#include <stdbool.h>

typedef struct Output {
        int fd;
        bool is_owned;   /* to be closed */
        char *path;      /* owned; NULL: stdout */
        GString *buffer; /* append here */
} Output;

/* PATH NULL: stdout. False with *RET_ERROR (newly allocated) set. */
bool output_open(Output *output, const char *path, char **ret_error);
/* Writes the buffer out if it is large. */
bool output_flush_large(Output *output, char **ret_error);
bool output_flush(Output *output, char **ret_error);
/* Flushes and closes: after this all is written, or there is an error. */
bool output_close(Output *output, char **ret_error);
/* Gives up what is not written yet. */
void output_deinit(Output *output);
