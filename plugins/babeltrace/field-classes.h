/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Field classes of a babeltrace2 graph, made from a CTF trace's classes or a row of the event table
 */

#include "ctf/class.h"
#include "event/event.h"

#include <babeltrace2/babeltrace.h>

/*
 * Maximum of fields in one structure, including elements of static arrays: babeltrace2 allocates an
 * object for each.
 */
#define FIELD_CLASSES_MAX (1u << 20)

/*
 * False for times, sizes and ids that only the reader needs: messages do not have them as fields.
 */
bool field_class_is_shown(const CtfClass *class);

/*
 * A new reference to the class of ROOT, a structure, for SCOPE. NULL with ERROR set: failure. NULL
 * without: ROOT is NULL, or has no shown member.
 */
bt_field_class *field_class_new(uint64_t mip, bt_trace_class *trace_class, CtfScope scope,
                                const CtfClass *root, GError **error);

/*
 * A new reference to a structure with the row's fields, in order: numbers by their size, GUIDs and
 * strings as text, arrays with the field that counts them. NULL: no memory.
 */
bt_field_class *field_class_of_row(uint64_t mip, bt_trace_class *trace_class, const Event *event);
