/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Output: prints to stdout, or to a file, for all verbs
 *
 * Output does not use stdio, which loses the reason of a failed write. After a failure nothing more
 * is written, and the reason is kept for the end.
 *
 * Printing does not wait for a slow reader, such as a pager: the daemon whose answer is printed
 * would wait too, and would disconnect. Text that the reader does not take is kept until
 * output_flush().
 */

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

/* Redirects output to the file at PATH; false with errno set. See util/atomic-file.h. */
bool output_open(const char *path);
/* Completes the file, and redirects output to stdout again. False with errno set. */
bool output_commit(void);

void output_bytes(const void *bytes, size_t n);
/* Prints N bytes and an end of line. */
void output_line(const char *text, size_t n);
/* Prints VALUE on a line. */
void output_json(const json_t *value);
void output_print(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* Writes all kept text, and waits for the reader. False if that, or an earlier write, failed. */
bool output_flush(void);
/* The errno of the first write that failed, or 0. */
int output_error(void);
