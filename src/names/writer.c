/* SPDX-License-Identifier: MIT */
#include "names/writer.h"

#include "names/keywords.h"

#include <string.h>

bool name_is_plain(Span name)
{
        const char *at;

        if (name.at == name.end || *name.at == '@')
                return false;
        for (at = name.at; at < name.end; at++) {
                unsigned char c = (unsigned char)*at;

                if (!(c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                      (c >= 'A' && c <= 'Z') || (c && strchr("_$@-|!%'", c))))
                        return false;
        }
        return true;
}

void name_append(Writer *writer, Span name, unsigned uses)
{
        if (!name_is_plain(name)) {
                text_add_quoted(&writer->text, name);
                return;
        }
        if (keyword_is_taken(name, uses))
                text_add(&writer->text, "@");
        text_add_span(&writer->text, name);
}

bool type_list_append(Writer *writer, Span list, TypeAppend *append)
{
        for (;;) {
                if (!append(writer, &list))
                        return false;
                if (list.at == list.end)
                        return true;
                if (!span_skip(&list, ","))
                        return false;
                text_add(&writer->text, ", ");
        }
}

bool generic_append(Writer *writer, const Generic *generic)
{
        unsigned i;

        if (!generic->arity)
                return true;
        text_add(&writer->text, "<");
        if (!generic->args.at) {
                for (i = 1; i < generic->arity; i++)
                        text_add(&writer->text, ",");
        } else if (!type_list_append(writer, generic->args, generic->append)) {
                return false;
        }
        text_add(&writer->text, ">");
        return true;
}

/* The end of the "[...]" at AT, with a rank or bounds; NULL: not an array suffix. */
static const char *array_end(const char *at, const char *end)
{
        if (at == end || *at != '[')
                return NULL;
        for (at++; at < end && *at && strchr(",*?.-0123456789", *at); at++)
                continue;
        return at < end && *at == ']' ? at + 1 : NULL;
}

bool arrays_append(Writer *writer, Span *rest)
{
        const char *at = rest->at, *next, *end;

        while ((next = array_end(at, rest->end)))
                at = next;
        if (at == rest->at)
                return false;
        for (end = at; end > rest->at; end = next) {
                for (next = end - 1; *next != '['; next--)
                        continue;
                text_add_span(&writer->text, span_of(next, end));
        }
        rest->at = at;
        return true;
}

bool arity_split(Span *name, unsigned *ret_arity)
{
        Span number;
        const char *at;

        *ret_arity = 0;
        for (at = name->end; at > name->at && at[-1] >= '0' && at[-1] <= '9'; at--)
                continue;
        if (at == name->end || at == name->at || at[-1] != '`')
                return true;
        number = span_of(at, name->end);
        if (!span_skip_number(&number, ret_arity) || !*ret_arity || *ret_arity > WRITER_ARITY_MAX)
                return false;
        name->end = at - 1;
        return true;
}

Span list_next(Span *rest)
{
        Span item = span_of(rest->at, rest->at);
        int depth = 0;

        for (; item.end < rest->end; item.end++) {
                char c = *item.end;

                if (c == '\\' && item.end + 1 < rest->end) {
                        item.end++;
                        continue;
                }
                if (c == ',' && !depth)
                        break;
                depth += c == '[' || c == '(' || c == '<'   ? 1
                         : c == ']' || c == ')' || c == '>' ? -1
                                                            : 0;
        }
        rest->at = item.end < rest->end ? item.end + 1 : item.end;
        return item;
}

unsigned list_count(Span list)
{
        unsigned n = 1;

        for (;;) {
                const char *end = list_next(&list).end;

                /* The list ends without a trailing comma. */
                if (end == list.at)
                        return n;
                n++;
        }
}
