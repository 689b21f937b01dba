/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Path: a type as reflection writes it, which is what events have for a namespace
 *
 *   Ns.Outer`1+Inner`1[System.Int32,System.String[]]
 *
 * The arguments of all its parts stand at the end. Before what has a meaning in it stands a
 * backslash if it is meant as it is.
 */

#include "names/generated.h"

/* What the end of a path is, not yet written: a method's name may become one with it. */
typedef struct PathEnd {
        bool has_closure, has_machine;
        Generated closure, machine;
        /* A name of the last part, for a finalizer; at NULL if it is generated, an array ... */
        Span plain;
        bool has_text; /* something was written before it */
} PathEnd;

/* RET_END may be NULL: then all is written. */
bool path_append(Writer *writer, Span *rest, PathEnd *ret_end);
/* path_append() as TypeAppend. */
TypeAppend path_type_append;
/* What path_append() has left to its caller. */
bool path_end_append(Writer *writer, PathEnd *end);
