/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Texts of folded stacks, "comm;outermost;..;innermost 12"
 *
 * Readers split a line at each semicolon, and take the number after the last space as the count;
 * some take a second number before it, too. Some ignore lines that begin with '#'. Therefore:
 * - no label has a semicolon
 * - no label begins or ends with a space, or ends with a space and a number
 * - no thread's name, the first label of a line, begins with '#'
 */

#include "perf/named-kind.h"

/* "_[j]", "_[k]" or "": the suffix by which readers like flamegraph.pl colour kinds of frames. */
const char *folded_annotation(NamedKind kind);

/* Makes TEXT a label, in place. */
void folded_escape_frame(char *text);
void folded_escape_comm(char *text);
