/* SPDX-License-Identifier: MIT */
#include "names/text.h"

#include "util/printable.h"
#include "util/utf8.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

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

/* Adds all N bytes or none, so that no character is split. */
static void text_put(Text *text, const char *bytes, size_t n)
{
        text->length += n;
        if (text->is_cut || n >= text->size - text->used) {
                text->is_cut = true;
                return;
        }
        memcpy(text->buffer + text->used, bytes, n);
        text->used += n;
}

/* Adds as many of the N ASCII characters as fit. */
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
                n = utf8_sequence((const uint8_t *)span.at, span_length(span), &character);
                if (!n) {
                        snprintf(escape, sizeof(escape), "\\x{%x}", (unsigned char)*span.at);
                        text_put(text, escape, strlen(escape));
                        n = 1;
                } else if (printable_is_hidden(character)) {
                        snprintf(escape, sizeof(escape), "\\u{%x}", (unsigned)character);
                        text_put(text, escape, strlen(escape));
                } else if (n == 1 && strchr(to_escape, *span.at)) {
                        snprintf(escape, sizeof(escape), "\\%c", *span.at);
                        text_put(text, escape, strlen(escape));
                } else {
                        text_put(text, span.at, n);
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
