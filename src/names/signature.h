/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Signature: a method's arguments and result in the spelling of the events
 *
 * instance generic class System.String (int32,class List`1<!!0>&)
 *
 * A nested type has neither namespace nor outer type here.
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
/* "int, ref string", or "?"; an argument that cannot be parsed is quoted. */
void arguments_append(Writer *writer, const Signature *signature);
/* Writes one type, of an argument or the result. The type must be all of TYPE. */
bool argument_append(Writer *writer, Span type);
