/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Text: a buffer for a name, and spans of texts
 *
 * A full Text stops writing but continues to count. To undo writes, restore a copy of the Text.
 */

#include <stdbool.h>
#include <stddef.h>

typedef struct Text {
        char *buffer; /* borrowed */
        size_t size;  /* of the buffer */
        size_t used;  /* of the buffer */
        size_t length;
        bool is_cut;
} Text;

/* AT..END of a borrowed text; END is exclusive. */
typedef struct Span {
        const char *at, *end;
} Span;

static inline Span span_of(const char *at, const char *end)
{
        return (Span){at, end};
}

static inline size_t span_length(Span span)
{
        return (size_t)(span.end - span.at);
}

/* The first byte; NUL: empty. */
static inline char span_first(Span span)
{
        return span.at < span.end ? *span.at : '\0';
}

Span span_of_text(const char *text);
bool span_equal(Span span, const char *text);
/* Takes PREFIX off, if SPAN begins with it. */
bool span_skip(Span *span, const char *prefix);
/* Takes a decimal number below 100000 off, without leading zeros; 0 itself is accepted. */
bool span_skip_number(Span *span, unsigned *ret_number);

void text_init(Text *text, char *buffer, size_t size);
/* Terminates the buffer with a NUL. Returns the length of all added text. */
size_t text_end(Text *text);
/* Adds printable ASCII. */
void text_add(Text *text, const char *literal);
void text_add_number(Text *text, unsigned number);
/* Adds SPAN, escaped as name.h describes. */
void text_add_span(Text *text, Span span);
/* Adds SPAN between ``marks``, with a backslash before each backslash and mark. */
void text_add_quoted(Text *text, Span span);
