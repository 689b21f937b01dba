/* SPDX-License-Identifier: MIT */
#pragma once

/* Keywords: tables of names that C# spells differently */

#include "names/text.h"

/* Contexts in which a word has a special meaning, so that a name equal to it gets a mark. */
typedef enum KeywordUse {
        KEYWORD_TYPE = 1,      /* int, T1 */
        KEYWORD_MEMBER = 2,    /* get */
        KEYWORD_GENERATED = 4, /* lambda */
} KeywordUse;

/* "int" for a signature's "int32", "string" for "class System.String"; NULL: no keyword. */
const char *keyword_of_signature(Span type);
/* "int" for "System.Int32", "string" for "System.String"; NULL: no keyword. */
const char *keyword_of_type(Span type);
/* "+" for "op_Addition" with two arguments; NULL: not an operator. */
const char *keyword_of_operator(Span method, bool is_instance, unsigned n_arguments);
/* "P/Invoke stub" for "IL_STUB_PInvoke"; NULL: another name, or an unknown stub. */
const char *keyword_of_stub(Span method);
/* True if NAME has a special meaning in one of USES, a set of KeywordUse. */
bool keyword_is_taken(Span name, unsigned uses);
