/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Writer: the shared state of all functions that write a name
 *
 * A function for a grammar takes text off a Span while it writes. False: the text does not parse.
 * To undo writes, restore a copy of the Writer.
 */

#include "names/text.h"

typedef struct Writer {
        Text text;
        bool is_short;
        unsigned depth;      /* depth of types in types */
        unsigned n_pointers; /* nesting depth of function pointers */
        Span type_params,
                method_params; /* comma-separated names of type parameters; at NULL: not known */
} Writer;

/* Reads one type off REST, in its own grammar. */
typedef bool TypeAppend(Writer *writer, Span *rest);

/* The type arguments of a name. */
typedef struct Generic {
        unsigned arity; /* 0: not generic */
        Span args;      /* ARITY arguments, with commas; at NULL: not known */
        TypeAppend *append;
} Generic;

/*
 * Limit: no real program nests deeper, and we share the stack of the program that links this code.
 */
#define WRITER_DEPTH_MAX 32
/* Limit, because each function pointer is parsed twice: C# has the reverse order. */
#define WRITER_POINTERS_MAX 4
/* Limit, for the text of "`9999": no real program has more type parameters. */
#define WRITER_ARITY_MAX 64

/*
 * True if the span consists of letters, digits, non-ASCII characters, and the characters that
 * compilers of other languages use in names.
 */
bool name_is_plain(Span name);
/* Writes NAME as it is if it is plain, else quoted. Marks a keyword of one of USES (KeywordUse). */
void name_append(Writer *writer, Span name, unsigned uses);
/* Writes "<int, string>", "<,>", or nothing. */
bool generic_append(Writer *writer, const Generic *generic);
/* Writes the types of LIST with commas between them. False: LIST has other text. */
bool type_list_append(Writer *writer, Span list, TypeAppend *append);
/*
 * Takes array suffixes, if any, off REST, and writes them. The runtime has the innermost first; C#
 * has it last.
 */
bool arrays_append(Writer *writer, Span *rest);
/* Takes the arity off NAME: 1 for "List`1", 0 without one. False: too large. */
bool arity_split(Span *name, unsigned *ret_arity);
/* Takes the next part off REST, up to a comma outside of brackets, and the comma. */
Span list_next(Span *rest);
/* The number of parts that list_next() returns. */
unsigned list_count(Span list);
