/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Signature: a method's arguments and result, in the events' spelling
 *
 * instance generic class System.String (int32,class List`1<!!0>&)
 *
 * Nested types have neither namespace nor outer type.
 */

#include "names/writer.h"

typedef struct Signature {
        bool has_arguments; /* false: the arguments are not known */
        bool has_result;    /* false: the part before the arguments is not known */
        bool is_instance, is_generic;
        Span arguments; /* without parentheses */
        Span result;
        unsigned n_arguments;
} Signature;

void signature_parse(const char *text, Signature *ret_signature);
/* True if it returns TYPE, spelled as the runtime spells types. */
bool signature_returns(const Signature *signature, const char *type);
/* Writes "int, ref string", or "?"; quotes arguments that cannot be parsed. */
void arguments_append(Writer *writer, const Signature *signature);
/* Writes one type, of an argument or the result. False: TYPE is not exactly one type. */
bool argument_append(Writer *writer, Span type);
