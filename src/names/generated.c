/* SPDX-License-Identifier: MIT */
#include "names/generated.h"

#include "names/keywords.h"

#include <string.h>

/* The form of the ordinals after a suffix. */
typedef enum GeneratedForm {
        FORM_NONE,
        FORM_ORDINAL,
        FORM_WORD, /* "Local|3_0" */
} GeneratedForm;

static const struct {
        const char *suffix;
        bool has_source;
        GeneratedForm form;
        GeneratedKind kind;
} KINDS[] = {
        {"c__DisplayClass", false, FORM_ORDINAL, GENERATED_CLOSURE},
        {"c__", false, FORM_ORDINAL, GENERATED_EMPTY_CLOSURE},
        {"c", false, FORM_NONE, GENERATED_EMPTY_CLOSURE},
        {"f__AnonymousType", false, FORM_ORDINAL, GENERATED_ANONYMOUS},
        {"d__", true, FORM_ORDINAL, GENERATED_MACHINE},
        {"d", true, FORM_NONE, GENERATED_MACHINE},
        {"b__", true, FORM_ORDINAL, GENERATED_LAMBDA},
        {"g__", true, FORM_WORD, GENERATED_LOCAL},
};

/* "15_0" */
static bool is_ordinal(Span ordinal)
{
        const char *at;

        for (at = ordinal.at; at < ordinal.end; at++)
                if (!(*at >= '0' && *at <= '9') && *at != '_')
                        return false;
        return span_first(ordinal) >= '0' && span_first(ordinal) <= '9';
}

const char *generated_source_end(Span token)
{
        const char *at;
        size_t depth = 0;

        if (span_first(token) != '<')
                return NULL;
        for (at = token.at; at < token.end; at++) {
                if (*at == '<')
                        depth++;
                else if (*at == '>' && !--depth)
                        return at + 1;
        }
        return NULL;
}

static bool parse_rest(Generated *generated, GeneratedForm form, Span rest)
{
        const char *bar = rest.end;

        generated->ordinal = rest;
        if (form == FORM_NONE)
                return rest.at == rest.end;
        if (form == FORM_WORD) {
                while (bar > rest.at && bar[-1] != '|')
                        bar--;
                if (bar == rest.at)
                        return false;
                generated->word = span_of(rest.at, bar - 1);
                generated->ordinal = span_of(bar, rest.end);
                if (!name_is_plain(generated->word))
                        return false;
        }
        return is_ordinal(generated->ordinal);
}

bool generated_parse(Span token, Generated *ret_generated)
{
        const char *end = generated_source_end(token);
        Span source, suffix;
        size_t i;

        if (!end)
                return false;
        source = span_of(token.at + 1, end - 1);
        suffix = span_of(end, token.end);
        for (i = 0; i < sizeof(KINDS) / sizeof(KINDS[0]); i++) {
                Generated found = {.kind = KINDS[i].kind, .token = token, .source = source};
                Span rest = suffix;

                if (KINDS[i].has_source == (source.at < source.end) &&
                    span_skip(&rest, KINDS[i].suffix) && parse_rest(&found, KINDS[i].form, rest)) {
                        *ret_generated = found;
                        return true;
                }
        }
        *ret_generated = (Generated){
                .kind = GENERATED_OTHER, .token = token, .source = source, .word = suffix};
        return true;
}

bool generated_is_closure(const Generated *generated)
{
        return generated->kind == GENERATED_CLOSURE || generated->kind == GENERATED_EMPTY_CLOSURE;
}

static bool is_function(const Generated *generated)
{
        return generated->kind == GENERATED_LAMBDA || generated->kind == GENERATED_LOCAL;
}

bool generated_is_held(const Generated *generated)
{
        Generated source;

        if (generated->kind != GENERATED_MACHINE)
                return is_function(generated);
        return generated_parse(generated->source, &source) && is_function(&source);
}

/* True for a name with matching brackets: an interface with its arguments. */
static bool is_balanced(Span span)
{
        size_t depth = 0;
        const char *at;

        for (at = span.at; at < span.end; at++) {
                if (*at == '<')
                        depth++;
                else if (*at == '>' && depth-- == 0)
                        return false;
                else if (!strchr("<>,.@", *at) && !name_is_plain(span_of(at, at + 1)))
                        return false;
        }
        return !depth;
}

/*
 * Writes the method that the code was generated for, in the compiler's form: accessors and
 * operators are unknown without a signature. Quotes explicit implementations as a whole.
 */
static bool source_append(Writer *writer, Span source, const Generated *closure)
{
        Generated inner;

        if (span_equal(source, ".ctor") || span_equal(source, ".cctor") || name_is_plain(source)) {
                text_add_span(&writer->text, source);
                return true;
        }
        if (generated_parse(source, &inner))
                return !generated_is_closure(&inner) &&
                       generated_append(writer, &inner, is_function(&inner) ? closure : NULL,
                                        "machine");
        if (!is_balanced(source))
                return false;
        text_add(&writer->text, "(");
        text_add_span(&writer->text, source);
        text_add(&writer->text, ")");
        return true;
}

static bool other_append(Writer *writer, const Generated *generated)
{
        Span suffix = generated->word;
        const char *at;

        for (at = suffix.at; at < suffix.end; at++)
                if (*at != '{' && *at != '}' && !name_is_plain(span_of(at, at + 1)))
                        return false;
        if (!is_balanced(generated->source))
                return false;
        text_add_span(&writer->text, generated->token);
        return true;
}

/* "c6." for the closure, then the name's own ordinals. */
static void ordinals_append(Writer *writer, const Generated *generated, const Generated *closure)
{
        text_add(&writer->text, "#");
        if (closure) {
                text_add(&writer->text, closure->kind == GENERATED_EMPTY_CLOSURE ? "c" : "");
                text_add_span(&writer->text, closure->ordinal);
                text_add(&writer->text, ".");
        }
        if (generated->kind == GENERATED_EMPTY_CLOSURE)
                text_add(&writer->text, "c");
        text_add_span(&writer->text, generated->ordinal);
}

static bool generated_append_at(Writer *writer, const Generated *generated,
                                const Generated *closure, const char *machine)
{
        Text *text = &writer->text;

        switch (generated->kind) {
        case GENERATED_OTHER:
                return other_append(writer, generated) &&
                       generic_append(writer, &generated->generic);
        case GENERATED_CLOSURE:
        case GENERATED_EMPTY_CLOSURE:
        case GENERATED_ANONYMOUS:
                text_add(text, generated->kind == GENERATED_ANONYMOUS ? "anonymous" : "closure");
                ordinals_append(writer, generated, NULL);
                return generic_append(writer, &generated->generic);
        case GENERATED_MACHINE:
                /* The type parameters are those of the method. */
                if (!source_append(writer, generated->source, closure) ||
                    !generic_append(writer, &generated->generic))
                        return false;
                text_add(text, ".");
                text_add(text, machine);
                ordinals_append(writer, generated, NULL);
                return true;
        case GENERATED_LAMBDA:
        case GENERATED_LOCAL:
                /* The closure's type parameters are those of the method, too. */
                if (!source_append(writer, generated->source, NULL) ||
                    (closure && !generic_append(writer, &closure->generic)))
                        return false;
                text_add(text, ".");
                if (generated->kind == GENERATED_LOCAL)
                        name_append(writer, generated->word, KEYWORD_GENERATED);
                else
                        text_add(text, "lambda");
                ordinals_append(writer, generated, closure);
                return true;
        }
        return false;
}

bool generated_append(Writer *writer, const Generated *generated, const Generated *closure,
                      const char *machine)
{
        bool is_understood;

        if (writer->depth >= WRITER_DEPTH_MAX)
                return false;
        writer->depth++;
        is_understood = generated_append_at(writer, generated, closure, machine);
        writer->depth--;
        return is_understood;
}
