/* SPDX-License-Identifier: MIT */
#include "ctf/tsdl-lexer.h"

#include <string.h>

void tsdl_lexer_init(TsdlLexer *lexer, const char *text, size_t n)
{
        *lexer = (TsdlLexer){
                .at = text,
                .end = text + n,
                .line = 1,
                .texts = g_string_chunk_new(4096),
                .buffer = g_string_new(NULL),
        };
}

void tsdl_lexer_deinit(TsdlLexer *lexer)
{
        g_string_chunk_free(lexer->texts);
        g_string_free(lexer->buffer, TRUE);
}

static bool tsdl_lexer_starts_with(const TsdlLexer *lexer, const char *text)
{
        size_t n = strlen(text);

        return (size_t)(lexer->end - lexer->at) >= n && !memcmp(lexer->at, text, n);
}

/* False: a comment without an end. */
static bool tsdl_lexer_skip_blanks(TsdlLexer *lexer)
{
        while (lexer->at < lexer->end) {
                if (g_ascii_isspace(*lexer->at)) {
                        lexer->line += *lexer->at == '\n';
                        lexer->at++;
                } else if (*lexer->at != '/') {
                        break;
                } else if (tsdl_lexer_starts_with(lexer, "//")) {
                        while (lexer->at < lexer->end && *lexer->at != '\n')
                                lexer->at++;
                } else if (tsdl_lexer_starts_with(lexer, "/*")) {
                        for (lexer->at += 2; !tsdl_lexer_starts_with(lexer, "*/"); lexer->at++) {
                                if (lexer->at >= lexer->end)
                                        return false;
                                lexer->line += *lexer->at == '\n';
                        }
                        lexer->at += 2;
                } else {
                        break;
                }
        }
        return true;
}

/* The character for a backslash and the next character or digits. */
static char tsdl_lexer_escape(TsdlLexer *lexer)
{
        static const char FROM[] = "abfnrtv", TO[] = "\a\b\f\n\r\t\v";
        char c = *lexer->at++;
        const char *found = c ? strchr(FROM, c) : NULL;
        unsigned value = 0, n = 0;

        if (found)
                return TO[found - FROM];
        if (c == 'x') {
                while (lexer->at < lexer->end && n++ < 2 && g_ascii_isxdigit(*lexer->at))
                        value = value << 4 | (unsigned)g_ascii_xdigit_value(*lexer->at++);
                return (char)value;
        }
        if (c >= '0' && c <= '7') {
                value = (unsigned)(c - '0');
                while (lexer->at < lexer->end && ++n < 3 && *lexer->at >= '0' && *lexer->at <= '7')
                        value = value << 3 | (unsigned)(*lexer->at++ - '0');
                return (char)value;
        }
        return c;
}

static bool tsdl_lexer_string(TsdlLexer *lexer, TsdlToken *token)
{
        g_string_truncate(lexer->buffer, 0);
        for (lexer->at++; lexer->at < lexer->end && *lexer->at != '"';) {
                char c = *lexer->at++;

                lexer->line += c == '\n';
                if (c == '\\' && lexer->at < lexer->end)
                        c = tsdl_lexer_escape(lexer);
                g_string_append_c(lexer->buffer, c);
        }
        if (lexer->at == lexer->end)
                return false;
        lexer->at++;
        token->type = TSDL_STRING;
        token->text = g_string_chunk_insert(lexer->texts, lexer->buffer->str);
        return true;
}

static bool tsdl_lexer_integer(TsdlLexer *lexer, TsdlToken *token)
{
        unsigned base = 10;
        uint64_t value = 0;
        bool is_ok = false;

        if (lexer->end - lexer->at > 2 && lexer->at[0] == '0' &&
            (lexer->at[1] == 'x' || lexer->at[1] == 'X')) {
                base = 16;
                lexer->at += 2;
        } else if (*lexer->at == '0') {
                base = 8;
        }
        for (; lexer->at < lexer->end && g_ascii_isxdigit(*lexer->at); lexer->at++) {
                unsigned digit = (unsigned)g_ascii_xdigit_value(*lexer->at);

                if (digit >= base || __builtin_mul_overflow(value, base, &value) ||
                    __builtin_add_overflow(value, digit, &value))
                        return false;
                is_ok = true;
        }
        while (lexer->at < lexer->end && strchr("uUlL", *lexer->at) && *lexer->at)
                lexer->at++;
        token->type = TSDL_INTEGER;
        token->integer = value;
        return is_ok;
}

static void tsdl_lexer_identifier(TsdlLexer *lexer, TsdlToken *token)
{
        const char *at = lexer->at;

        while (at < lexer->end && (g_ascii_isalnum(*at) || *at == '_'))
                at++;
        token->type = TSDL_IDENTIFIER;
        token->text = g_string_chunk_insert_len(lexer->texts, lexer->at, at - lexer->at);
        lexer->at = at;
}

TsdlToken tsdl_lexer_next(TsdlLexer *lexer)
{
        TsdlToken token = {.type = TSDL_ERROR};
        bool is_ok = tsdl_lexer_skip_blanks(lexer);

        token.line = lexer->line;
        if (!is_ok)
                return token;
        if (lexer->at >= lexer->end) {
                token.type = TSDL_END;
        } else if (*lexer->at == '"') {
                if (!tsdl_lexer_string(lexer, &token))
                        token.type = TSDL_ERROR;
        } else if (g_ascii_isdigit(*lexer->at)) {
                if (!tsdl_lexer_integer(lexer, &token))
                        token.type = TSDL_ERROR;
        } else if (g_ascii_isalpha(*lexer->at) || *lexer->at == '_') {
                tsdl_lexer_identifier(lexer, &token);
        } else if (tsdl_lexer_starts_with(lexer, ":=")) {
                token.type = TSDL_TYPE_ASSIGN;
                lexer->at += 2;
        } else if (tsdl_lexer_starts_with(lexer, "...")) {
                token.type = TSDL_ELLIPSIS;
                lexer->at += 3;
        } else if (*lexer->at == '=') {
                token.type = TSDL_ASSIGN;
                lexer->at++;
        } else if (strchr("{}[]<>();:,.-+", *lexer->at) && *lexer->at) {
                token.type = TSDL_PUNCTUATION;
                token.punctuation = *lexer->at++;
        }
        return token;
}
