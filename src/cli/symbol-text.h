/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Symbols without a length limit
 */

#include "cli/options.h"
#include "clrsym/clrsym.h"

#include <glib.h>

/* Sets the style of names, and the places to search for names of types. OPTIONS is borrowed. */
void symbol_text_set_options(const Options *options);

/*
 * Appends clrsym_symbol()'s name of BODY. PID: the process whose files have the names of its types;
 * 0: files as we see them.
 */
void symbol_text_append(GString *out, int32_t pid, const clrsym_body *body);

/* Appends the methods that were inlined at the address of ANSWER, with their lines if HAS_LINES. */
void symbol_text_append_inlined(GString *out, int32_t pid, const clrsym_answer *answer,
                                bool has_lines);
