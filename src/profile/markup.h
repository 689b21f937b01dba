/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Markup: text, data, and the program's own style and scripts in an SVG or HTML file
 */

#include <glib.h>

/* Appends printable text so that it can stand between tags, and in an attribute with quotes. */
void xml_append(GString *out, const char *text);

/*
 * Appends TEXT, valid UTF-8, as a JSON string for a <script> of a page: without '<', '>' and '&'.
 */
void script_append_string(GString *out, const char *text);

/* The text of a file of src/profile/graph. */
void resource_append(GString *out, const char *name);
