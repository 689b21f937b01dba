/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Texts of folded stacks, "comm;outermost;..;innermost 12"
 *
 * Readers split a line at each semicolon and take a number after the last space as the count, some
 * also a second one before it; some leave out lines that begin with '#'. So no label has a
 * semicolon, begins with a space, or ends with one or with one and a number; and no thread's name,
 * which is first on its line, begins with '#'.
 */

#include "perf/named-kind.h"

/* "_[j]", "_[k]" or "": the suffix by which readers like flamegraph.pl know kinds of frames. */
const char *folded_annotation(NamedKind kind);

/* Makes TEXT a label, in place. */
void folded_escape_frame(char *text);
void folded_escape_comm(char *text);
