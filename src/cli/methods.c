/* SPDX-License-Identifier: MIT */
#include "cli/answer-text.h"
#include "cli/verbs.h"

#include <stdio.h>

static const char *text_or_dash(JsonObject *object, const char *name)
{
        const char *text = json_text(object, name);

        return text ? text : "-";
}

/* No table: there are tens of thousands, and widths that only the last line decides. */
static void append_body(GString *out, JsonObject *body)
{
        gint64 size = json_integer(body, "size");
        const char *file = module_file_name(body);

        g_string_append_printf(out, "%-7" G_GINT64_FORMAT " ", json_integer(body, "pid"));
        g_string_append_printf(out, "%-14s ", text_or_dash(body, "start"));
        if (size)
                g_string_append_printf(out, "%6" G_GINT64_FORMAT " ", size);
        else
                g_string_append_printf(out, "%6s ", "-");
        g_string_append_printf(out, "%-17s ", text_or_dash(body, "loaded"));
        g_string_append_printf(out, "%-17s ", text_or_dash(body, "unloaded"));
        g_string_append_printf(out, "%-18s ", text_or_dash(json_object(body, "version"), "tier"));
        printable_append(out, text_or_dash(body, "symbol"));
        if (file) {
                g_string_append(out, " (");
                printable_append(out, file);
                g_string_append_c(out, ')');
        }
}

static bool print_bodies(JsonSpan bodies, GError **error)
{
        g_autoptr(JsonParser) parser = json_parser_new_immutable();
        g_autoptr(GString) line = g_string_new(NULL);
        JsonSpan element;
        size_t position = 0;

        printf("%-7s %-14s %6s %-17s %-17s %-18s %s\n", "PID", "START", "SIZE", "LOADED",
               "UNLOADED", "TIER", "METHOD");
        while (json_span_next(bodies, &position, &element)) {
                if (!json_parser_load_from_data(parser, element.at, (gssize)element.n, error))
                        return false;
                if (!JSON_NODE_HOLDS_OBJECT(json_parser_get_root(parser)))
                        continue;
                g_string_truncate(line, 0);
                append_body(line, json_node_get_object(json_parser_get_root(parser)));
                printf("%s\n", line->str);
        }
        return true;
}

bool verb_methods(Link *link, const Options *options, GError **error)
{
        g_autoptr(GString) parameters = g_string_new("{\"all\":");
        JsonSpan reply, bodies;

        g_string_append(parameters, options->is_all ? "true" : "false");
        if (options->has_process) {
                g_string_append_c(parameters, ',');
                process_name_append(&options->process, parameters);
        }
        g_string_append_c(parameters, '}');
        if (options->is_json)
                return link_print_lines(link, "ListMethods", parameters->str, "methods", error);
        if (!link_call(link, "ListMethods", parameters->str, 0, &reply, error))
                return false;
        if (!json_span_member(reply, "methods", &bodies))
                bodies = (JsonSpan){"", 0};
        return print_bodies(bodies, error);
}
