/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Answers for people, one line each
 */

#include <glib.h>
#include <jansson.h>

/* ANSWER is an element of Resolve's answers. Appends the line without its end. */
void answer_text_append(GString *out, const json_t *answer);
