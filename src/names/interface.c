/* SPDX-License-Identifier: MIT */
#include "names/interface.h"

#include "names/keywords.h"

#include <string.h>

static Span name_until(Span rest, const char *marks)
{
        Span name = span_of(rest.at, rest.at);

        while (name.end < rest.end && !strchr(marks, *name.end))
                name.end++;
        return name;
}

/* Type parameters keep their source names here, so T1 and M1 need no mark. */
static bool is_taken(Span name)
{
        return keyword_is_taken(name, KEYWORD_TYPE) && span_first(name) != 'M' &&
               (span_first(name) != 'T' || span_equal(name, "TypedReference"));
}

static bool comma_append(Writer *writer, Span *rest)
{
        if (!span_skip(rest, ","))
                return false;
        text_add(&writer->text, ", ");
        return true;
}

static bool name_write(Writer *writer, Span *rest)
{
        const Writer before = *writer;
        Span whole = name_until(*rest, "<>,[]*?");
        const char *word = keyword_of_type(whole);

        if (word && (whole.end == rest->end || *whole.end != '<')) {
                text_add(&writer->text, word);
                rest->at = whole.end;
                return true;
        }
        for (;;) {
                Span name = name_until(*rest, ".<>,[]*?");

                rest->at = name.end;
                if (!name_is_plain(name))
                        return false;
                if (writer->is_short)
                        *writer = before;
                if (span_length(name) == span_length(whole) && is_taken(name))
                        text_add(&writer->text, "@");
                text_add_span(&writer->text, name);
                if (span_skip(rest, "<")) {
                        text_add(&writer->text, "<");
                        do {
                                if (!interface_append(writer, rest))
                                        return false;
                        } while (comma_append(writer, rest));
                        if (!span_skip(rest, ">"))
                                return false;
                        text_add(&writer->text, ">");
                }
                if (!span_skip(rest, "."))
                        return true;
                text_add(&writer->text, ".");
        }
}

bool interface_append(Writer *writer, Span *rest)
{
        bool is_understood;

        if (writer->depth >= WRITER_DEPTH_MAX)
                return false;
        writer->depth++;
        is_understood = name_write(writer, rest);
        while (is_understood) {
                if (span_skip(rest, "*"))
                        text_add(&writer->text, "*");
                else if (span_skip(rest, "?"))
                        text_add(&writer->text, "?");
                else if (!arrays_append(writer, rest))
                        break;
        }
        writer->depth--;
        return is_understood;
}
