/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Message: lines on standard error, for the user
 *
 * They can have what others chose, such as the names of files and processes: all is made printable.
 */

/* Prints "clrsym: TEXT". */
void message_print(const char *text);
/* Prints lines that another program wrote for the user, as they are but for empty ones. */
void message_pass_on(const char *lines);
