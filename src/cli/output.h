/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Output: what the verbs print to stdout, or to a file instead
 *
 * Not by stdio, which forgets why a write failed. After a failure nothing more is written, and the
 * reason is kept for the end.
 *
 * Printing does not wait for a reader who takes nothing, such as a pager: that would keep a daemon
 * waiting whose answer is being printed, and it hangs up then. What is not taken is kept, up to
 * output_flush().
 */

#include <glib.h>
#include <stdbool.h>

/* Prints to the file at PATH from now on, what it held is lost; false with errno set. */
bool output_open(const char *path);

void output_bytes(const void *bytes, size_t n);
/* Prints N bytes and an end of line. */
void output_line(const char *text, size_t n);
void output_print(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* Writes what is kept, however long that takes. False if that, or a write before, failed. */
bool output_flush(void);
/* The errno of the first write that failed, or 0. */
int output_error(void);
