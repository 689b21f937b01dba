/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Answers for people, one line each
 */

#include <glib.h>
#include <json-glib/json-glib.h>

/* ANSWER is an element of Resolve's answers. Appends the line without its end. */
void answer_text_append(GString *out, JsonObject *answer);

/*
 * Names come from traced programs, and go to a terminal: what is no printable character is written
 * as \xNN or \uNNNN.
 */
void printable_append(GString *out, const char *text);

/* Members of an object, NULL (or 0) where there is none of that type. */
const char *json_text(JsonObject *object, const char *name);
JsonObject *json_object(JsonObject *object, const char *name);
gint64 json_integer(JsonObject *object, const char *name);

/* "System.Private.CoreLib.dll" of a body's module, or NULL; borrowed. */
const char *module_file_name(JsonObject *body);
