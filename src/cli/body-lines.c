/* SPDX-License-Identifier: MIT */
#include "cli/body-lines.h"

#include "cli/answer-text.h"
#include "cli/output.h"
#include "cli/output.h"
#include "core/json-text.h"

static const char *text_or_dash(JsonObject *object, const char *name)
{
        const char *text = json_text(object, name);

        return text ? text : "-";
}

/* No table: there are tens of thousands, and widths that only the last line decides. */
static void append_body(GString *out, JsonObject *body)
{
        JsonObject *version = json_object(body, "version");
        const char *file = module_file_name(body);
        gint64 size = json_integer(body, "size");
        g_autofree char *size_text = size ? g_strdup_printf("%" G_GINT64_FORMAT, size) : NULL;
        g_autofree char *il_text =
                json_object_get_null_member(version, "il_version")
                        ? NULL
                        : g_strdup_printf("%" G_GINT64_FORMAT, json_integer(version, "il_version"));
        g_autofree char *jit_text =
                json_object_get_null_member(body, "jit_ms")
                        ? NULL
                        : g_strdup_printf("%.3f", json_object_get_double_member(body, "jit_ms"));

        g_string_append_printf(out, "%-7" G_GINT64_FORMAT " %-14s %6s ", json_integer(body, "pid"),
                               text_or_dash(body, "start"), size_text ? size_text : "-");
        g_string_append_printf(out, "%3" G_GINT64_FORMAT " %3s %-18s %8s ",
                               json_integer(version, "rejit_id"), il_text ? il_text : "-",
                               text_or_dash(version, "tier"), jit_text ? jit_text : "-");
        g_string_append_printf(out, "%-17s %-17s ", text_or_dash(body, "loaded"),
                               text_or_dash(body, "unloaded"));
        printable_append(out, file ? file : "-");
        g_string_append_c(out, ' ');
        printable_append(out, text_or_dash(body, "symbol"));
}

static bool print_bodies(JsonSpan bodies, GError **error)
{
        g_autoptr(JsonParser) parser = json_parser_new_immutable();
        g_autoptr(GString) line = g_string_new(NULL);
        JsonSpan element;
        size_t position = 0;

        output_print("%-7s %-14s %6s %3s %3s %-18s %8s %-17s %-17s %s %s\n", "PID", "ADDR", "SIZE",
                     "VER", "IL", "TIER", "JIT-MS", "LOADED", "UNLOADED", "MODULE", "METHOD");
        while (json_span_next(bodies, &position, &element)) {
                if (!json_parser_load_from_data(parser, element.at, (gssize)element.n, error))
                        return false;
                if (!JSON_NODE_HOLDS_OBJECT(json_parser_get_root(parser)))
                        continue;
                g_string_truncate(line, 0);
                append_body(line, json_node_get_object(json_parser_get_root(parser)));
                output_print("%s\n", line->str);
        }
        return true;
}

bool body_lines_print(Link *link, const Options *options, const char *method,
                      const char *parameters, const char *member, GError **error)
{
        JsonSpan reply, bodies;

        if (options->is_json)
                return link_print_lines(link, method, parameters, member, error);
        if (!link_call(link, method, parameters, 0, &reply, error))
                return false;
        if (!json_span_member(reply, member, &bodies))
                bodies = (JsonSpan){"", 0};
        return print_bodies(bodies, error);
}

bool body_lines_print_each(Link *link, const Options *options, const char *method, const char *key,
                           GError **error)
{
        char **argument;

        for (argument = options->arguments; *argument; argument++) {
                g_autoptr(GString) parameters = g_string_new("{");
                g_autofree char *text = g_utf8_make_valid(*argument, -1);

                json_append_string(parameters, key);
                g_string_append_c(parameters, ':');
                json_append_string(parameters, text);
                if (options->has_process) {
                        g_string_append_c(parameters, ',');
                        process_name_append(&options->process, parameters);
                }
                g_string_append_c(parameters, '}');
                if (!body_lines_print(link, options, method, parameters->str, "bodies", error))
                        return false;
        }
        return true;
}
