/* SPDX-License-Identifier: MIT */
#include "names/text.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Control (Cc), format (Cf), line and paragraph separators (Zl, Zp), noncharacters below U+10000;
 * of higher planes format only. What Unicode has not assigned yet is not here: it may be a letter
 * by the time that this is read. */
static const struct {
        uint32_t first, last;
} UNPRINTABLE[] = {
        {0x0, 0x1f},        {0x7f, 0x9f},       {0xad, 0xad},       {0x600, 0x605},
        {0x61c, 0x61c},     {0x6dd, 0x6dd},     {0x70f, 0x70f},     {0x890, 0x891},
        {0x8e2, 0x8e2},     {0x180e, 0x180e},   {0x200b, 0x200f},   {0x2028, 0x202e},
        {0x2060, 0x2064},   {0x2066, 0x206f},   {0xfdd0, 0xfdef},   {0xfeff, 0xfeff},
        {0xfff9, 0xfffb},   {0x110bd, 0x110bd}, {0x110cd, 0x110cd}, {0x13430, 0x1343f},
        {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0001, 0xe0001}, {0xe0020, 0xe007f},
};

Span span_of_text(const char *text)
{
        return text ? span_of(text, text + strlen(text)) : span_of("", "");
}

bool span_equal(Span span, const char *text)
{
        size_t n = strlen(text);

        return span_length(span) == n && memcmp(span.at, text, n) == 0;
}

bool span_skip(Span *span, const char *prefix)
{
        size_t n = strlen(prefix);

        if (span_length(*span) < n || memcmp(span->at, prefix, n) != 0)
                return false;
        span->at += n;
        return true;
}

bool span_skip_number(Span *span, unsigned *ret_number)
{
        const char *at = span->at;
        unsigned number = 0;

        while (at < span->end && *at >= '0' && *at <= '9' && number < 10000)
                number = number * 10 + (unsigned)(*at++ - '0');
        if (at == span->at || (*span->at == '0' && at > span->at + 1) ||
            (at < span->end && *at >= '0' && *at <= '9'))
                return false;
        span->at = at;
        *ret_number = number;
        return true;
}

void text_init(Text *text, char *buffer, size_t size)
{
        *text = (Text){.buffer = buffer, .size = size};
}

size_t text_end(Text *text)
{
        if (text->size)
                text->buffer[text->used] = '\0';
        return text->length;
}

/* All N bytes or none, so that nothing is cut in the middle. */
static void put(Text *text, const char *bytes, size_t n)
{
        text->length += n;
        if (text->is_cut || n >= text->size - text->used) {
                text->is_cut = true;
                return;
        }
        memcpy(text->buffer + text->used, bytes, n);
        text->used += n;
}

/* As many of N ASCII characters as there is room for. */
static void put_ascii(Text *text, const char *bytes, size_t n)
{
        size_t room = text->size - text->used;

        text->length += n;
        if (text->is_cut)
                return;
        if (n >= room) {
                text->is_cut = true;
                n = room ? room - 1 : 0;
        }
        if (n)
                memcpy(text->buffer + text->used, bytes, n);
        text->used += n;
}

void text_add(Text *text, const char *literal)
{
        put_ascii(text, literal, strlen(literal));
}

void text_add_number(Text *text, unsigned number)
{
        char digits[16];

        snprintf(digits, sizeof(digits), "%u", number);
        text_add(text, digits);
}

/* The bytes of the character at AT, 0 if these are not UTF-8. */
static size_t decode(const unsigned char *at, size_t n, uint32_t *ret_character)
{
        static const struct {
                unsigned char mask, lead;
                uint32_t least;
        } FORMS[] = {
                {0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
        uint32_t character;
        size_t form, i;

        for (form = 0; form < 4; form++)
                if ((at[0] & FORMS[form].mask) == FORMS[form].lead)
                        break;
        if (form == 4 || form >= n)
                return 0;
        character = at[0] & (unsigned char)~FORMS[form].mask;
        for (i = 1; i <= form; i++) {
                if ((at[i] & 0xc0) != 0x80)
                        return 0;
                character = character << 6 | (at[i] & 0x3f);
        }
        if (character < FORMS[form].least || character > 0x10ffff ||
            (character >= 0xd800 && character <= 0xdfff))
                return 0;
        *ret_character = character;
        return form + 1;
}

static bool is_unprintable(uint32_t character)
{
        size_t i;

        if ((character & 0xfffe) == 0xfffe)
                return true;
        for (i = 0; i < sizeof(UNPRINTABLE) / sizeof(UNPRINTABLE[0]); i++)
                if (character <= UNPRINTABLE[i].last)
                        return character >= UNPRINTABLE[i].first;
        return false;
}

static void add_span(Text *text, Span span, const char *to_escape)
{
        while (span.at < span.end) {
                const char *plain = span.at;
                uint32_t character;
                char escape[16];
                size_t n;

                while (plain < span.end && *plain >= 0x20 && *plain < 0x7f &&
                       !(*to_escape && strchr(to_escape, *plain)))
                        plain++;
                if (plain > span.at) {
                        put_ascii(text, span.at, span_length(span_of(span.at, plain)));
                        span.at = plain;
                        continue;
                }
                n = decode((const unsigned char *)span.at, span_length(span), &character);
                if (!n) {
                        snprintf(escape, sizeof(escape), "\\x{%x}", (unsigned char)*span.at);
                        put(text, escape, strlen(escape));
                        n = 1;
                } else if (is_unprintable(character)) {
                        snprintf(escape, sizeof(escape), "\\u{%x}", (unsigned)character);
                        put(text, escape, strlen(escape));
                } else if (n == 1 && strchr(to_escape, *span.at)) {
                        snprintf(escape, sizeof(escape), "\\%c", *span.at);
                        put(text, escape, strlen(escape));
                } else {
                        put(text, span.at, n);
                }
                span.at += n;
        }
}

void text_add_span(Text *text, Span span)
{
        add_span(text, span, "");
}

void text_add_quoted(Text *text, Span span)
{
        text_add(text, "``");
        add_span(text, span, "\\`");
        text_add(text, "``");
}
