/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Words: the tables of what has another name in C#
 */

#include "names/text.h"

/* Where a word that is written has a meaning of its own, so that a name that happens to be equal to
 * it is marked. */
typedef enum WordPlace {
        WORD_TYPE = 1,      /* int, T1 */
        WORD_MEMBER = 2,    /* get */
        WORD_GENERATED = 4, /* lambda */
} WordPlace;

/* "int" of a signature's "int32", "string" of its "class System.String"; NULL if it has none. */
const char *word_of_signature(Span type);
/* "int" of "System.Int32", "string" of "System.String"; NULL if it has none. */
const char *word_of_type(Span type);
/* "+" of "op_Addition" with two arguments; NULL if such a method is no operator. */
const char *word_of_operator(Span method, bool is_instance, unsigned n_arguments);
/* "P/Invoke stub" of "IL_STUB_PInvoke"; NULL for what is none, or unknown. */
const char *word_of_stub(Span method);
/* Whether NAME has another meaning in one of PLACES, a set of WordPlace. */
bool word_is_taken(Span name, unsigned places);
