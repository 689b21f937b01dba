/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Writer: the state that all functions share that write a name
 *
 * The functions that read a grammar take what they understand off a Span while they write it, and
 * return false where they do not understand it. To undo what they have written by then, assign a
 * copy of the Writer that was made before.
 */

#include "names/text.h"

typedef struct Writer {
        Text text;
        bool is_short;
        unsigned depth;                  /* depth of types in types */
        unsigned n_pointers;             /* depth of pointers to functions in each other */
        Span type_params, method_params; /* their names, with commas; at NULL: not known */
} Writer;

/* Reads one type off REST, in its own grammar. */
typedef bool TypeAppend(Writer *writer, Span *rest);

/* The type arguments that belong to one name. */
typedef struct Generic {
        unsigned arity; /* 0: it is not generic */
        Span args;      /* ARITY of them, with commas; at NULL: not known */
        TypeAppend *append;
} Generic;

/*
 * No program has deeper types; and this code shares the stack with the program that it is linked
 * into.
 */
#define WRITER_DEPTH_MAX 32
/* Each is read twice, because C# has the reverse order. */
#define WRITER_POINTERS_MAX 4
/* No program has more type parameters. It bounds the text that "`9999" leads to. */
#define WRITER_ARITY_MAX 64

/*
 * True if the span has only characters of a name: letters, digits, what is not ASCII, and those
 * that compilers of other languages use.
 */
bool name_is_plain(Span name);
/*
 * Writes NAME as it is if it is plain, else quoted. It is marked if it is a keyword in one of USES
 * (KeywordUse).
 */
void name_append(Writer *writer, Span name, unsigned uses);
/* "<int, string>", "<,>", or nothing. */
bool generic_append(Writer *writer, const Generic *generic);
/* Writes the types of LIST with commas between them. They are all of LIST. */
bool type_list_append(Writer *writer, Span list, TypeAppend *append);
/*
 * Takes array suffixes off REST, if there are any, and writes them. The runtime has the innermost
 * first, C# has it last.
 */
bool arrays_append(Writer *writer, Span *rest);
/* Takes the arity off NAME: 1 for "List`1", 0 if there is none. False if it is too large. */
bool arity_split(Span *name, unsigned *ret_arity);
/* Takes the part of REST before its next comma outside of brackets, and the comma. */
Span list_next(Span *rest);
/* How many parts list_next() returns. */
unsigned list_count(Span list);
