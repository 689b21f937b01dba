/* SPDX-License-Identifier: MIT */
#pragma once

/* Output: buffered lines to a file or to stdout; a failed write is an error */

#include <glib.h>
#include <stdbool.h>

typedef struct Output {
        int fd;
        bool is_owned;   /* close it */
        char *path;      /* owned; NULL: stdout */
        GString *buffer; /* owned; append here */
} Output;

/* PATH NULL: stdout. False with *RET_ERROR (newly allocated) set. */
bool output_open(Output *output, const char *path, char **ret_error);
/* Writes a large buffer; keeps a small one. */
bool output_flush_large(Output *output, char **ret_error);
bool output_flush(Output *output, char **ret_error);
/* Flushes and closes. True: all is written. */
bool output_close(Output *output, char **ret_error);
/* Drops unwritten text. */
void output_deinit(Output *output);
