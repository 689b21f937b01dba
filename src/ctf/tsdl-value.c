/* SPDX-License-Identifier: MIT */
#include "ctf/tsdl-parser.h"

#include <string.h>

bool tsdl_fail(TsdlParser *parser, CtfError code, const char *what)
{
        if (parser->error && !*parser->error)
                g_set_error(parser->error, CTF_ERROR, code, "metadata, line %u: %s",
                            parser->token.line, what);
        return false;
}

bool tsdl_advance(TsdlParser *parser)
{
        parser->token = tsdl_lexer_next(&parser->lexer);
        return parser->token.type != TSDL_ERROR ||
               tsdl_fail(parser, CTF_ERROR_DAMAGED,
                         "a character, number or text that TSDL does "
                         "not have");
}

bool tsdl_is(const TsdlParser *parser, char punctuation)
{
        return parser->token.type == TSDL_PUNCTUATION && parser->token.punctuation == punctuation;
}

bool tsdl_is_word(const TsdlParser *parser, const char *word)
{
        return parser->token.type == TSDL_IDENTIFIER && !strcmp(parser->token.text, word);
}

bool tsdl_expect(TsdlParser *parser, char punctuation)
{
        if (!tsdl_is(parser, punctuation)) {
                g_autofree char *what = g_strdup_printf("expected '%c'", punctuation);

                return tsdl_fail(parser, CTF_ERROR_DAMAGED, what);
        }
        return tsdl_advance(parser);
}

/* Skips the token, if it is that punctuation. */
bool tsdl_accept(TsdlParser *parser, char punctuation)
{
        return tsdl_is(parser, punctuation) && tsdl_advance(parser);
}

/* NAME or NAME.NAME...; an old dialect has '->' in place of '.'. */
bool tsdl_path(TsdlParser *parser, GString *path)
{
        for (;;) {
                if (parser->token.type != TSDL_IDENTIFIER)
                        return tsdl_fail(parser, CTF_ERROR_DAMAGED, "expected a name");
                g_string_append(path, parser->token.text);
                if (!tsdl_advance(parser))
                        return false;
                if (!tsdl_is(parser, '.'))
                        return true;
                g_string_append_c(path, CTF_PATH_SEPARATOR);
                if (!tsdl_advance(parser))
                        return false;
        }
}

bool tsdl_value(TsdlParser *parser, TsdlValue *ret_value)
{
        g_autoptr(GString) path = NULL;
        TsdlValue value = {0};

        if (tsdl_is(parser, '-')) {
                value.is_negative = true;
                if (!tsdl_advance(parser))
                        return false;
        } else if (tsdl_is(parser, '+') && !tsdl_advance(parser)) {
                return false;
        }
        switch (parser->token.type) {
        case TSDL_INTEGER:
                value.is_integer = true;
                value.integer = parser->token.integer;
                if (!tsdl_advance(parser))
                        return false;
                break;
        case TSDL_STRING:
                value.is_string = true;
                value.text = parser->token.text;
                if (!tsdl_advance(parser))
                        return false;
                break;
        default:
                path = g_string_new(NULL);
                if (!tsdl_path(parser, path))
                        return false;
                value.text = ctf_arena_name(&parser->trace->arena, path->str);
        }
        if (value.is_negative && !value.is_integer)
                return tsdl_fail(parser, CTF_ERROR_DAMAGED, "expected a number after '-'");
        *ret_value = value;
        return true;
}

bool tsdl_unsigned(TsdlParser *parser, const TsdlValue *value, uint64_t max, uint64_t *ret_number)
{
        if (!value->is_integer || value->is_negative || value->integer > max)
                return tsdl_fail(parser, CTF_ERROR_DAMAGED, "a number that is out of range");
        *ret_number = value->integer;
        return true;
}

bool tsdl_signed(TsdlParser *parser, const TsdlValue *value, int64_t *ret_number)
{
        uint64_t limit = (uint64_t)INT64_MAX + value->is_negative;

        if (!value->is_integer || value->integer > limit)
                return tsdl_fail(parser, CTF_ERROR_DAMAGED, "a number that is out of range");
        *ret_number = value->is_negative ? (int64_t)-value->integer : (int64_t)value->integer;
        return true;
}

bool tsdl_boolean(TsdlParser *parser, const TsdlValue *value, bool *ret_value)
{
        if (value->is_integer)
                *ret_value = value->integer != 0;
        else if (!g_ascii_strcasecmp(value->text, "true"))
                *ret_value = true;
        else if (!g_ascii_strcasecmp(value->text, "false"))
                *ret_value = false;
        else
                return tsdl_fail(parser, CTF_ERROR_DAMAGED, "expected true or false");
        return true;
}

bool tsdl_byte_order(TsdlParser *parser, const TsdlValue *value, bool *ret_is_big_endian)
{
        if (value->is_integer)
                return tsdl_fail(parser, CTF_ERROR_DAMAGED, "expected a byte order");
        if (!strcmp(value->text, "be") || !strcmp(value->text, "network"))
                *ret_is_big_endian = true;
        else if (!strcmp(value->text, "le"))
                *ret_is_big_endian = false;
        else if (!strcmp(value->text, "native"))
                *ret_is_big_endian = parser->trace->is_big_endian;
        else
                return tsdl_fail(parser, CTF_ERROR_DAMAGED, "a byte order that TSDL does not have");
        return true;
}

bool tsdl_attributes(TsdlParser *parser,
                     bool (*set)(TsdlParser *parser, const char *key, const TsdlValue *value,
                                 void *data),
                     void *data)
{
        if (!tsdl_expect(parser, '{'))
                return false;
        while (!tsdl_is(parser, '}')) {
                TsdlValue value;

                g_string_truncate(parser->key, 0);
                if (!tsdl_path(parser, parser->key))
                        return false;
                if (parser->token.type != TSDL_ASSIGN)
                        return tsdl_fail(parser, CTF_ERROR_DAMAGED, "expected '='");
                if (!tsdl_advance(parser) || !tsdl_value(parser, &value) ||
                    !tsdl_expect(parser, ';') || !set(parser, parser->key->str, &value, data))
                        return false;
        }
        return true;
}
