/* SPDX-License-Identifier: MIT */
#include "cli/answer-text.h"
#include "cli/table.h"
#include "cli/verbs.h"

static void add_text(Table *table, JsonObject *object, const char *name)
{
        g_autoptr(GString) cell = g_string_new(NULL);
        const char *text = json_text(object, name);

        printable_append(cell, text ? text : "-");
        table_add(table, g_string_free(g_steal_pointer(&cell), FALSE));
}

static void add_integer(Table *table, JsonObject *object, const char *name)
{
        table_add(table, g_strdup_printf("%" G_GINT64_FORMAT, json_integer(object, name)));
}

static void add_process(Table *table, JsonObject *process)
{
        add_integer(table, process, "pid");
        add_integer(table, process, "pid_ns");
        add_text(table, process, "state");
        add_text(table, process, "runtime");
        add_integer(table, process, "bodies");
        add_text(table, process, "since");
}

bool verb_ps(Link *link, const Options *options, GError **error)
{
        static const char *const HEADINGS[] = {"PID",    "NS",    "STATE", "RUNTIME",
                                               "BODIES", "SINCE", NULL};
        g_autoptr(Table) table = table_new(HEADINGS);
        g_autoptr(JsonParser) parser = json_parser_new_immutable();
        JsonSpan reply, processes, element;
        size_t position = 0;

        if (options->is_json)
                return link_print_lines(link, "ListProcesses", "{}", "processes", error);
        if (!link_call(link, "ListProcesses", "{}", 0, &reply, error))
                return false;
        if (!json_span_member(reply, "processes", &processes))
                processes = (JsonSpan){"", 0};
        while (json_span_next(processes, &position, &element)) {
                if (!json_parser_load_from_data(parser, element.at, (gssize)element.n, error))
                        return false;
                if (JSON_NODE_HOLDS_OBJECT(json_parser_get_root(parser)))
                        add_process(table, json_node_get_object(json_parser_get_root(parser)));
        }
        table_print(table);
        return true;
}
