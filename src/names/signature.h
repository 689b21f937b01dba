/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Signature: what a method takes and returns, as events have it
 *
 *   instance generic class System.String  (int32,class List`1<!!0>&)
 *
 * A nested type has neither namespace nor outer type here.
 */

#include "names/writer.h"

typedef struct Signature {
        bool has_arguments; /* false: nothing is known of them */
        bool has_result;    /* false: nor of what is in front of them */
        bool is_instance, is_generic;
        Span arguments; /* without parentheses */
        Span result;
        unsigned n_arguments;
} Signature;

void signature_parse(const char *text, Signature *ret_signature);
/* Whether it returns just TYPE, as the runtime writes types. */
bool signature_returns(const Signature *signature, const char *type);
/* "int, ref string", or "?"; an argument that is not understood is quoted. */
void arguments_append(Writer *writer, const Signature *signature);
/* One argument's type, or the result's: all of TYPE. */
bool argument_append(Writer *writer, Span type);
