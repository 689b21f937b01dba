/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Resources: the style and the scripts of the graphs, which are part of the program
 */

#include <glib.h>

/* The text of a file of src/profile/graph, N bytes; the program's. */
const char *resource_text(const char *name, size_t *ret_n);
void resource_append(GString *out, const char *name);
