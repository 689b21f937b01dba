/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Symbols, of any length
 */

#include "clrsym/clrsym.h"

#include <glib.h>

/* How names are written from now on; C# if it is never called. */
void symbol_text_set_style(clrsym_style style);

/* Appends what clrsym_symbol() says. */
void symbol_text_append(GString *out, const clrsym_body *body);
