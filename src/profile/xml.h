/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * XML: text in an SVG or HTML file
 */

#include <glib.h>

/* Appends printable text so that it can stand between tags, and in an attribute with quotes. */
void xml_append(GString *out, const char *text);
