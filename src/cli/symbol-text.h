/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Symbols of any length
 */

#include "clrsym/clrsym.h"

#include <glib.h>

/* Sets the style of names. The default is C#. */
void symbol_text_set_style(clrsym_style style);

/* Appends clrsym_symbol()'s name of BODY. */
void symbol_text_append(GString *out, const clrsym_body *body);
