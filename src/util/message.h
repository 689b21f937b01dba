/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Message: lines on standard error, for the user
 *
 * They can have what others chose, such as the names of files, processes and events: all is made
 * printable.
 */

#include <glib.h>

/* Prints "PROGRAM: TEXT". */
void message_print(const char *program, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* Prints lines that another program wrote for the user, as they are but for empty ones. */
void message_pass_on(const char *lines);
