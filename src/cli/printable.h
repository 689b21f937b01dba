/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Printable: names come from traced programs, and go to a terminal
 */

#include <glib.h>

/* What a terminal would obey, or not show, is written as \u{...}. TEXT is UTF-8. */
void printable_append(GString *out, const char *text);
