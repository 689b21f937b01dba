/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Printable text: other programs' words, fit for every form
 */

#include <glib.h>
#include <stdbool.h>

/* Is it ASCII without controls, and so printable as it is? */
bool text_is_plain(const char *text);

/*
 * Appends TEXT as valid UTF-8 without characters that are not seen or that change how others are:
 * those are written as \u{..}, bytes that are no UTF-8 as \u{fffd}.
 */
void printable_append(GString *out, const char *text);
/* The same as a text of its own, to be freed. */
char *text_printable(const char *text);
