/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Output form: which form the name of an output means
 */

#include <glib.h>
#include <stdbool.h>

/*
 * False: one of the OUTPUTS (NULL: there are none) has an ending that means neither a form nor
 * text, such as ".htm"; it would be written as text.
 */
bool output_forms_check(const GPtrArray *outputs, GError **error);
