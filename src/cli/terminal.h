/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Terminal: how wide it is, and how wide text is on it
 */

#include <glib.h>

/* Columns of the terminal at FD; 0 if it is none. */
unsigned terminal_width(int fd);

/* Columns that TEXT, printable UTF-8, takes. */
unsigned terminal_columns(const char *text);

/* Cuts TEXT to so many columns; "..." at the end says so. */
void terminal_cut(GString *text, unsigned n_columns);
