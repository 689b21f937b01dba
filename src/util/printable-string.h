/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Printable text (util/printable.h) as GLib strings
 */

#include <glib.h>
#include <stdbool.h>

/* Is it ASCII without controls, and so printable as it is? */
bool text_is_plain(const char *text);

/* Appends TEXT made printable. */
void printable_append(GString *out, const char *text);
/* TEXT made printable; the caller frees it. */
char *text_printable(const char *text);
