/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Terminal: its width, and the width of text on it
 */

#include <glib.h>

/* Columns of the terminal at FD; 0 if FD is not a terminal. */
unsigned terminal_width(int fd);

/* Columns of TEXT, which is printable UTF-8. */
unsigned terminal_columns(const char *text);

/* Cuts TEXT to N_COLUMNS, and ends it with "...". */
void terminal_cut(GString *text, unsigned n_columns);
