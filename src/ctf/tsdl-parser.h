/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The parser of TSDL: tokens, values, and types of fields
 *
 * Internal to tsdl*.c. Functions that return false or NULL have set the error.
 */

#include "ctf/class.h"
#include "ctf/error.h"
#include "ctf/tsdl-lexer.h"

/* The name spaces of the type table. */
typedef enum TsdlNameSpace {
        TSDL_ALIAS,
        TSDL_STRUCT,
        TSDL_VARIANT,
        TSDL_ENUM,
} TsdlNameSpace;

typedef struct TsdlType {
        TsdlNameSpace name_space;
        const char *name;
        CtfClass *class;
} TsdlType;

/* The attributes of an integer, parsed once, and found by their text the next time. */
typedef struct TsdlSeenInteger {
        const char *text; /* borrowed: the text after the '{', with the '}' */
        size_t n;
        unsigned n_lines;
        CtfClass class;
} TsdlSeenInteger;

typedef struct TsdlParser {
        TsdlLexer lexer;
        TsdlToken token; /* the next token */
        CtfTraceClass *trace;
        GArray *types; /* owned, of TsdlType: the innermost scope's last */
        GArray *seen;  /* owned, of TsdlSeenInteger; cleared when the trace's byte order changes */
        GString *key;  /* owned: of an attribute */
        unsigned depth;
        GError **error;
} TsdlParser;

/* The value after a "=": an integer, a text, or names with points between them. */
typedef struct TsdlValue {
        bool is_integer;
        bool is_negative;
        uint64_t integer;
        const char *text; /* of a string or of the names */
        bool is_string;
} TsdlValue;

/* Sets the error, with the line, unless one is set; returns false. */
bool tsdl_fail(TsdlParser *parser, CtfError code, const char *what);
/* Moves to the next token. */
bool tsdl_advance(TsdlParser *parser);
bool tsdl_is(const TsdlParser *parser, char punctuation);
bool tsdl_is_word(const TsdlParser *parser, const char *word);
/* Skips that punctuation; its absence is an error. */
bool tsdl_expect(TsdlParser *parser, char punctuation);
/* Skips that punctuation, if it is there. */
bool tsdl_accept(TsdlParser *parser, char punctuation);

/* Appends NAME.NAME..., with CTF_PATH_SEPARATOR in place of the points. */
bool tsdl_path(TsdlParser *parser, GString *path);
bool tsdl_value(TsdlParser *parser, TsdlValue *ret_value);
bool tsdl_unsigned(TsdlParser *parser, const TsdlValue *value, uint64_t max, uint64_t *ret_number);
bool tsdl_signed(TsdlParser *parser, const TsdlValue *value, int64_t *ret_number);
bool tsdl_boolean(TsdlParser *parser, const TsdlValue *value, bool *ret_value);
bool tsdl_byte_order(TsdlParser *parser, const TsdlValue *value, bool *ret_is_big_endian);
/* Parses { KEY = VALUE; ...: up to the '}', which is the next token then. */
bool tsdl_attributes(TsdlParser *parser,
                     bool (*set)(TsdlParser *parser, const char *key, const TsdlValue *value,
                                 void *data),
                     void *data);

/* Parses a type specifier to a new field class. */
CtfClass *tsdl_type(TsdlParser *parser);
/* Parses the rest of a "typealias". */
bool tsdl_typealias(TsdlParser *parser);
