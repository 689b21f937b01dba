/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Message: lines on standard error, for the user
 *
 * They can contain names that others chose, of files, processes and events, so everything is made
 * printable.
 */

#include <glib.h>

/* Prints "PROGRAM: TEXT". */
void message_print(const char *program, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* Prints the non-empty lines that another program wrote for the user. */
void message_pass_on(const char *lines);
