/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Symbols, of any length
 */

#include "clrsym/clrsym.h"

#include <glib.h>

/* Appends what clrsym_symbol() says. */
void symbol_text_append(GString *out, const clrsym_body *body);
