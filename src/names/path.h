/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Path: a type in the spelling of reflection, the namespace in events
 *
 *   Ns.Outer`1+Inner`1[System.Int32,System.String[]]
 *
 * The arguments of all parts are at the end. A backslash precedes special characters in names.
 */

#include "names/generated.h"

/* The unwritten end of a path: a method's name can be joined with it. */
typedef struct PathEnd {
        bool has_closure, has_machine;
        Generated closure, machine;
        /* The last part's name, for a finalizer; at NULL: a generated name, an array ... */
        Span plain;
        bool has_text; /* text precedes it */
} PathEnd;

/* Writes a path. RET_END NULL: the end is written, too. */
bool path_append(Writer *writer, Span *rest, PathEnd *ret_end);
/* path_append() with the type of TypeAppend. */
TypeAppend path_type_append;
/* Writes the end that path_append() returned. */
bool path_end_append(Writer *writer, PathEnd *end);
