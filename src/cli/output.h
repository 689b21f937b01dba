/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Output: what the verbs print to stdout
 *
 * Not by stdio, which forgets why a write failed. After a failure nothing more is written, and the
 * reason is kept for the end.
 */

#include <glib.h>
#include <stdbool.h>

/* Prints N bytes and an end of line. */
void output_line(const char *text, size_t n);
void output_print(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* Writes what is kept. False if that, or a write before, failed. */
bool output_flush(void);
/* The errno of the first write that failed, or 0. */
int output_error(void);
