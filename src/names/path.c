/* SPDX-License-Identifier: MIT */
#include "names/path.h"

#include "names/keywords.h"

#include <string.h>

typedef struct Path {
        Span names;             /* all parts' names */
        const char *type_begin; /* start of the first type, after the namespaces */
        Span args;              /* at NULL: none */
        unsigned arity;         /* sum over all parts */
        bool is_nested;
} Path;

/* Takes the next name off REST. */
static Span next_part(Span *rest)
{
        const char *end = generated_source_end(*rest);
        Span part = span_of(rest->at, end ? end : rest->at);

        /* No bracket closes it: skip further searches for its end. */
        if (!end && span_first(*rest) == '<')
                part.end = rest->end;
        for (; part.end < rest->end && !strchr(".+[],*&", *part.end); part.end++)
                if (*part.end == '\\' && part.end + 1 < rest->end)
                        part.end++;
        rest->at = part.end;
        return part;
}

/* The end of the "[...]" at the start of REST; NULL: none. */
static const char *args_end(Span rest)
{
        const char *at;
        size_t depth = 0;

        for (at = rest.at; at < rest.end; at++) {
                if (*at == '\\' && at + 1 < rest.end)
                        at++;
                else if (*at == '[')
                        depth++;
                else if (*at == ']' && !--depth)
                        return at + 1;
        }
        return NULL;
}

static bool path_parse(Span *rest, Path *ret_path)
{
        Path path = {.names = *rest, .type_begin = rest->at};
        Span again;
        unsigned arity;

        for (;;) {
                next_part(rest);
                if (span_first(*rest) != '.' && span_first(*rest) != '+')
                        break;
                if (*rest->at == '+')
                        path.is_nested = true;
                else if (!path.is_nested)
                        path.type_begin = rest->at + 1;
                rest->at++;
        }
        path.names.end = rest->at;

        for (again = span_of(path.type_begin, path.names.end);; again.at++) {
                Span part = next_part(&again);

                if (!arity_split(&part, &arity))
                        return false;
                path.arity += arity;
                if (path.arity > WRITER_ARITY_MAX)
                        return false;
                if (again.at == again.end)
                        break;
        }

        if (span_first(*rest) == '[' && rest->at + 1 < rest->end && !strchr(",*]", rest->at[1])) {
                const char *end = args_end(*rest);

                if (!end)
                        return false;
                path.args = span_of(rest->at + 1, end - 1);
                rest->at = end;
                if (list_count(path.args) != path.arity)
                        return false;
        }
        *ret_path = path;
        return true;
}

/* Takes the next ARITY arguments off ARGS, the list of all parts. */
static Generic generic_next(Span *args, unsigned arity)
{
        Generic generic = {.arity = arity, .args = *args, .append = path_type_append};
        unsigned i;

        if (args->at) {
                for (i = 0; i < arity; i++)
                        generic.args.end = list_next(args).end;
        }
        return generic;
}

static bool path_flush(Writer *writer, PathEnd *end)
{
        bool is_understood = true;

        if (end->has_closure && !end->has_machine) {
                text_add(&writer->text, end->has_text ? "." : "");
                is_understood = generated_append(writer, &end->closure, NULL, NULL);
                end->has_text = true;
        } else if (end->has_machine) {
                text_add(&writer->text, end->has_text ? "." : "");
                is_understood = generated_append(
                        writer, &end->machine, end->has_closure ? &end->closure : NULL, "machine");
                end->has_text = true;
        }
        end->has_closure = end->has_machine = false;
        return is_understood;
}

bool path_end_append(Writer *writer, PathEnd *end)
{
        return path_flush(writer, end);
}

/* Writes the part, or keeps it until the next part is known. */
static bool generated_part(Writer *writer, const Generated *generated, PathEnd *end)
{
        if (end->has_machine || !generated_is_held(generated)) {
                if (!path_flush(writer, end))
                        return false;
        }
        end->plain.at = NULL;
        if (generated_is_closure(generated)) {
                end->closure = *generated;
                end->has_closure = true;
                return true;
        }
        if (generated->kind == GENERATED_MACHINE) {
                end->machine = *generated;
                end->has_machine = true;
                return true;
        }
        if (!path_flush(writer, end))
                return false;
        text_add(&writer->text, end->has_text ? "." : "");
        end->has_text = true;
        return generated_append(writer, generated, NULL, NULL);
}

static bool type_part(Writer *writer, Span part, Span *args, bool is_alone, PathEnd *end)
{
        Generated generated;
        Generic generic;
        unsigned arity = 0;

        /* Cannot fail: path_parse() has succeeded. */
        if (!arity_split(&part, &arity))
                return false;
        generic = generic_next(args, arity);
        if (generated_parse(part, &generated)) {
                generated.generic = generic;
                return generated_part(writer, &generated, end);
        }
        if (!path_flush(writer, end))
                return false;
        text_add(&writer->text, end->has_text ? "." : "");
        name_append(writer, part, is_alone ? KEYWORD_TYPE : 0);
        end->has_text = true;
        end->plain = part;
        return generic_append(writer, &generic);
}

static bool namespace_part(Writer *writer, Span part, PathEnd *end)
{
        Generated generated;

        text_add(&writer->text, end->has_text ? "." : "");
        end->has_text = true;
        if (generated_parse(part, &generated))
                return generated_append(writer, &generated, NULL, "machine");
        name_append(writer, part, 0);
        return true;
}

static bool path_write(Writer *writer, Span *rest, PathEnd *end)
{
        Path path;
        Span at, args;

        if (!path_parse(rest, &path))
                return false;
        if (!path.arity && keyword_of_type(path.names)) {
                end->plain = span_of(path.type_begin, path.names.end);
                end->has_text = true;
                text_add(&writer->text, keyword_of_type(path.names));
                return true;
        }
        args = path.args;
        at = writer->is_short ? span_of(path.type_begin, path.names.end) : path.names;
        for (;; at.at++) {
                bool is_type = at.at >= path.type_begin;
                Span part = next_part(&at);

                if (is_type) {
                        bool is_alone = part.at == path.names.at && part.end == path.names.end;

                        if (!type_part(writer, part, &args, is_alone, end))
                                return false;
                } else if (!namespace_part(writer, part, end)) {
                        return false;
                }
                if (at.at == at.end)
                        return true;
        }
}

bool path_append(Writer *writer, Span *rest, PathEnd *ret_end)
{
        PathEnd end = {0};
        bool is_understood = false;

        if (writer->depth >= WRITER_DEPTH_MAX)
                return false;
        writer->depth++;
        if (path_write(writer, rest, &end)) {
                bool is_bare = rest->at == rest->end || !strchr("[*", *rest->at);

                if (!ret_end || !is_bare) {
                        is_understood = path_flush(writer, &end);
                        if (!is_bare)
                                end.plain.at = NULL;
                } else {
                        is_understood = true;
                }
                while (is_understood && !is_bare) {
                        if (span_skip(rest, "*"))
                                text_add(&writer->text, "*");
                        else if (!arrays_append(writer, rest))
                                break;
                }
        }
        writer->depth--;
        if (ret_end)
                *ret_end = end;
        return is_understood;
}

bool path_type_append(Writer *writer, Span *rest)
{
        return path_append(writer, rest, NULL);
}
