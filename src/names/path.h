/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Path: a type in the spelling of reflection, which events have as a namespace
 *
 *   Ns.Outer`1+Inner`1[System.Int32,System.String[]]
 *
 * The arguments of all its parts stand at the end. A special character in a name has a backslash
 * before it.
 */

#include "names/generated.h"

/* The end of a path that is not written yet: a method's name can be joined with it. */
typedef struct PathEnd {
        bool has_closure, has_machine;
        Generated closure, machine;
        /* The name of the last part, for a finalizer; at NULL if it is generated, an array ... */
        Span plain;
        bool has_text; /* text was written before it */
} PathEnd;

/* RET_END may be NULL: then the end is written, too. */
bool path_append(Writer *writer, Span *rest, PathEnd *ret_end);
/* path_append() with the type of TypeAppend. */
TypeAppend path_type_append;
/* Writes the end that path_append() has returned. */
bool path_end_append(Writer *writer, PathEnd *end);
