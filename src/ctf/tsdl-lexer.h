/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Tokens of TSDL, the metadata language of CTF 1.8
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum TsdlTokenType {
        TSDL_END,
        TSDL_IDENTIFIER,
        TSDL_INTEGER,
        TSDL_STRING,
        TSDL_ASSIGN,      /* = */
        TSDL_TYPE_ASSIGN, /* := */
        TSDL_ELLIPSIS,    /* ... */
        TSDL_PUNCTUATION, /* any other character: `punctuation` */
        TSDL_ERROR, /* a character that begins no token, or a text or comment without an end */
} TsdlTokenType;

typedef struct TsdlToken {
        TsdlTokenType type;
        char punctuation;
        uint64_t integer;
        const char *text; /* of an identifier or a string; valid until the lexer is freed */
        unsigned line;    /* from 1 */
} TsdlToken;

typedef struct TsdlLexer {
        const char *at, *end; /* borrowed */
        unsigned line;
        GStringChunk *texts; /* owned */
        GString *buffer;     /* owned: scratch */
} TsdlLexer;

/* TEXT, N bytes, is borrowed. */
void tsdl_lexer_init(TsdlLexer *lexer, const char *text, size_t n);
void tsdl_lexer_deinit(TsdlLexer *lexer);
TsdlToken tsdl_lexer_next(TsdlLexer *lexer);
