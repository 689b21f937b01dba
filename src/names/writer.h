/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Writer: what all that writes a name shares
 *
 * The functions that read a grammar take what they understand off a Span while they write it, and
 * return false where they understand no further. What they wrote by then is to be taken back:
 * assign a copy of the Writer that was made before.
 */

#include "names/text.h"

typedef struct Writer {
        Text text;
        bool is_short;
        unsigned depth;      /* of types in types */
        unsigned n_pointers; /* to functions, of which one is inside another */
} Writer;

/* Reads one type off REST, in the grammar of its own. */
typedef bool TypeAppend(Writer *writer, Span *rest);

/* The type arguments that belong to one name. */
typedef struct Generic {
        unsigned arity; /* 0: it is not generic */
        Span args;      /* that many, with commas; at NULL: not told */
        TypeAppend *append;
} Generic;

/* Deeper is nothing that a program has, and the stack is not ours alone. */
#define WRITER_DEPTH_MAX 32
/* Each turns the order of what it holds, and is read twice for it. */
#define WRITER_POINTERS_MAX 4
/* Nobody has more type parameters; it bounds what "`9999" makes us write. */
#define WRITER_ARITY_MAX 64

/* Whether the span has the characters of a name only: letters, digits, what is not ASCII, and what
 * compilers of other languages put in. */
bool name_is_plain(Span name);
/* As it is if it is plain, else quoted. Marked if it is taken in PLACES (WordPlace). */
void name_append(Writer *writer, Span name, unsigned places);
/* "<int, string>", "<,>", or nothing. */
bool generic_append(Writer *writer, const Generic *generic);
/* Types with commas in between, all of LIST. */
bool type_list_append(Writer *writer, Span list, TypeAppend *append);
/* Array suffixes off REST, if there are any. The runtime writes the innermost first, C# last. */
bool arrays_append(Writer *writer, Span *rest);
/* Takes the arity off: 1 for "List`1"; 0 if it has none, and leaves NAME. False if it is absurd. */
bool arity_split(Span *name, unsigned *ret_arity);
/* The part of REST before its next comma that is in no bracket; it is taken off, with the comma. */
Span list_next(Span *rest);
/* How many list_next() has. */
unsigned list_count(Span list);
