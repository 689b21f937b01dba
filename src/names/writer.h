/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Writer: the shared state of all functions that write a name
 *
 * The functions for a grammar take text off a Span while they write it, and return false if they
 * cannot parse it. To undo writes, assign a copy of the Writer from before.
 */

#include "names/text.h"

typedef struct Writer {
        Text text;
        bool is_short;
        unsigned depth;                  /* depth of types in types */
        unsigned n_pointers;             /* depth of pointers to functions in each other */
        Span type_params, method_params; /* the names of type parameters, with commas; at NULL: not
                                          * known */
} Writer;

/* Reads one type off REST, in its own grammar. */
typedef bool TypeAppend(Writer *writer, Span *rest);

/* The type arguments of one name. */
typedef struct Generic {
        unsigned arity; /* 0: it is not generic */
        Span args;      /* ARITY of them, with commas; at NULL: not known */
        TypeAppend *append;
} Generic;

/* No program has deeper types; and the program that this code is linked into shares its stack. */
#define WRITER_DEPTH_MAX 32
/* Each text is read twice, because C# has the reverse order. */
#define WRITER_POINTERS_MAX 4
/* No program has more type parameters. The limit bounds the text for "`9999". */
#define WRITER_ARITY_MAX 64

/* True if the span has only letters, digits, characters that are not ASCII, and those that
 * compilers of other languages use in names. */
bool name_is_plain(Span name);
/* Writes NAME unchanged if it is plain, else quoted. It is marked if it is a keyword in one of USES
 * (KeywordUse). */
void name_append(Writer *writer, Span name, unsigned uses);
/* "<int, string>", "<,>", or nothing. */
bool generic_append(Writer *writer, const Generic *generic);
/* Writes the types of LIST with commas between them. They must be all of LIST. */
bool type_list_append(Writer *writer, Span list, TypeAppend *append);
/* Takes array suffixes, if any, off REST, and writes them. The runtime has the innermost first, C#
 * has it last. */
bool arrays_append(Writer *writer, Span *rest);
/* Takes the arity off NAME: 1 for "List`1", 0 if there is none. False: too large. */
bool arity_split(Span *name, unsigned *ret_arity);
/* Takes the part of REST before its next comma outside of brackets, and the comma. */
Span list_next(Span *rest);
/* How many parts list_next() returns. */
unsigned list_count(Span list);
