/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Symbols of any length
 */

#include "cli/options.h"
#include "clrsym/clrsym.h"

#include <glib.h>

/* The style of names, and where the names of types are looked for. OPTIONS is borrowed. */
void symbol_text_set_options(const Options *options);

/*
 * Appends clrsym_symbol()'s name of BODY. PID: the process whose files have the names of its types;
 * 0: files are those that we see.
 */
void symbol_text_append(GString *out, int32_t pid, const clrsym_body *body);

/* Appends the methods that were inlined where ANSWER is, with their lines if HAS_LINES. */
void symbol_text_append_inlined(GString *out, int32_t pid, const clrsym_answer *answer,
                                bool has_lines);
