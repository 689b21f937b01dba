/* SPDX-License-Identifier: MIT */
#pragma once

/* Copies of field classes, for a filter that adds fields to events */

#include <babeltrace2/babeltrace.h>
#include <glib.h>
#include <stdbool.h>

/* Structures that contain fields; the numbers are babeltrace2's scopes of field paths. */
#define N_SCOPES 4

typedef struct ClassCopier {
        uint64_t mip;
        bt_trace_class *trace_class; /* borrowed; the copies belong to it */
        /* Borrowed, by bt_field_path_scope: the originals of the copies; NULL: none */
        const bt_field_class *roots[N_SCOPES];
        /* Owned: borrowed original -> borrowed copy, of classes that can be a length or selector */
        GHashTable *selectors;
} ClassCopier;

/*
 * A new reference to a deep copy of ORIGINAL. The roots that contain its lengths and selectors are
 * copied before, or are ORIGINAL. NULL: no memory, or a class that this version of babeltrace2
 * should not have.
 */
bt_field_class *class_copier_copy(ClassCopier *copier, const bt_field_class *original);
