/* SPDX-License-Identifier: MIT */
#pragma once

/* Keywords: tables of names with another spelling in C# */

#include "names/text.h"

/* Places where a word has a meaning of its own, so that an equal name is marked. */
typedef enum KeywordUse {
        KEYWORD_TYPE = 1,      /* int, T1 */
        KEYWORD_MEMBER = 2,    /* get */
        KEYWORD_GENERATED = 4, /* lambda */
} KeywordUse;

/* "int" of a signature's "int32", "string" of its "class System.String"; NULL if it has none. */
const char *keyword_of_signature(Span type);
/* "int" of "System.Int32", "string" of "System.String"; NULL if it has none. */
const char *keyword_of_type(Span type);
/* "+" of "op_Addition" with two arguments; NULL if such a method is not an operator. */
const char *keyword_of_operator(Span method, bool is_instance, unsigned n_arguments);
/* "P/Invoke stub" of "IL_STUB_PInvoke"; NULL for another name, or an unknown stub. */
const char *keyword_of_stub(Span method);
/* True if NAME has another meaning in one of USES, a set of KeywordUse. */
bool keyword_is_taken(Span name, unsigned uses);
