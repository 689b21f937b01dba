/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Field classes of a babeltrace2 graph, made of those of a CTF trace or of a row of the event table
 */

#include "ctf/class.h"
#include "event/event.h"

#include <babeltrace2/babeltrace.h>

/*
 * Most fields that one structure has, elements of its arrays of a fixed length included:
 * babeltrace2 makes an object of each.
 */
#define FIELD_CLASSES_MAX (1u << 20)

/* False of what only the reader needs: a time, a size, an id. No message has those as fields. */
bool field_class_is_shown(const CtfClass *class);

/*
 * A new reference to the class of ROOT, a structure, for SCOPE. NULL with ERROR set; NULL without:
 * ROOT is NULL or has nothing to show.
 */
bt_field_class *field_class_new(uint64_t mip, bt_trace_class *trace_class, CtfScope scope,
                                const CtfClass *root, GError **error);

/*
 * A new reference to a structure with the row's fields, in order: numbers by their size, GUIDs and
 * strings as text, arrays with the field that counts them. NULL: not enough memory.
 */
bt_field_class *field_class_of_row(uint64_t mip, bt_trace_class *trace_class, const Event *event);
