/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Copies of field classes, for a filter whose events have more fields than those that come to it
 */

#include <babeltrace2/babeltrace.h>
#include <glib.h>
#include <stdbool.h>

/* Structures that fields can be in; the numbers are babeltrace2's for the scopes of field paths. */
#define N_SCOPES 4

typedef struct ClassCopier {
        uint64_t mip;
        bt_trace_class *trace_class; /* borrowed: of the copies */
        /* Borrowed, by bt_field_path_scope: the originals that the copies are made of; NULL: none
         */
        const bt_field_class *roots[N_SCOPES];
        /* Borrowed original -> borrowed copy, of the classes that can be a length or a selector */
        GHashTable *selectors;
} ClassCopier;

/*
 * A new reference to a copy of ORIGINAL, with all that is in it. The roots of the copier are those
 * that ORIGINAL's lengths and selectors are in, and were copied before, or are ORIGINAL. NULL: not
 * enough memory, or a class that this version of babeltrace2 should not have.
 */
bt_field_class *class_copier_copy(ClassCopier *copier, const bt_field_class *original);
