/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Line JSON: a source line as members of an object
 */

#include "clrsym/clrsym.h"

#include <glib.h>

/*
 * Appends the members file, line, column and line_status, with a comma before each. LINE counts if
 * it was FOUND.
 */
void line_json_append(GString *out, clrsym_line_status found, const clrsym_line *line);
