/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * JSON answer: the answer to a malformed question
 *
 * The daemon writes it, and the command line, which does not ask the daemon such a question.
 */

#include <glib.h>

/*
 * Appends the members of the answer to a malformed question: its address as it was given, and the
 * reason. The daemon's answers have an epoch after these.
 */
void json_invalid_append(GString *out, const char *address, const char *reason);
