/* SPDX-License-Identifier: MIT */
#include "cli/answer-text.h"

#include <math.h>
#include <string.h>

static JsonNode *member(JsonObject *object, const char *name)
{
        return object ? json_object_get_member(object, name) : NULL;
}

const char *json_text(JsonObject *object, const char *name)
{
        JsonNode *node = member(object, name);

        return node && json_node_get_value_type(node) == G_TYPE_STRING ? json_node_get_string(node)
                                                                       : NULL;
}

JsonObject *json_object(JsonObject *object, const char *name)
{
        JsonNode *node = member(object, name);

        return node && JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
}

gint64 json_integer(JsonObject *object, const char *name)
{
        JsonNode *node = member(object, name);

        return node && json_node_get_value_type(node) == G_TYPE_INT64 ? json_node_get_int(node) : 0;
}

static JsonArray *json_array(JsonObject *object, const char *name)
{
        JsonNode *node = member(object, name);

        return node && JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : NULL;
}

void printable_append(GString *out, const char *text)
{
        for (; *text; text = g_utf8_next_char(text)) {
                gunichar c = g_utf8_get_char(text);
                GUnicodeType type = g_unichar_type(c);

                /* FORMAT has the marks that turn the direction of writing. */
                if (g_unichar_isprint(c) && type != G_UNICODE_FORMAT &&
                    type != G_UNICODE_LINE_SEPARATOR && type != G_UNICODE_PARAGRAPH_SEPARATOR)
                        g_string_append_unichar(out, c);
                else
                        g_string_append_printf(out, c < 0x80 ? "\\x%02x" : "\\u%04x", c);
        }
}

const char *module_file_name(JsonObject *body)
{
        const char *path = json_text(json_object(body, "module"), "path");
        const char *slash = path ? strrchr(path, '/') : NULL;

        if (slash)
                path = slash + 1;
        return path && *path ? path : NULL;
}

/* "Foo.Bar()+0x10" */
static void append_place(GString *out, JsonObject *body)
{
        const char *symbol = json_text(body, "symbol");

        printable_append(out, symbol ? symbol : "?");
        g_string_append_printf(out, "+0x%" G_GINT64_MODIFIER "x", json_integer(body, "offset"));
}

/* SECONDS in the unit that leaves the fewest digits. */
static void append_duration(GString *out, double seconds)
{
        static const struct {
                double seconds;
                const char *name;
        } UNITS[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}};
        size_t i;

        seconds = fabs(seconds);
        for (i = 0; i < G_N_ELEMENTS(UNITS); i++)
                if (seconds >= UNITS[i].seconds) {
                        g_string_append_printf(out, "%.1f %s", seconds / UNITS[i].seconds,
                                               UNITS[i].name);
                        return;
                }
        g_string_append_printf(out, "%.0f ns", seconds * 1e9);
}

static void append_ok(GString *out, JsonObject *answer)
{
        const char *file = module_file_name(answer);
        const char *tier = json_text(json_object(answer, "version"), "tier");

        append_place(out, answer);
        if (file) {
                g_string_append(out, " (");
                printable_append(out, file);
                g_string_append_c(out, ')');
        }
        if (tier) {
                g_string_append(out, " [");
                printable_append(out, tier);
                g_string_append_c(out, ']');
        }
}

/* HOW far the nearest body is from the time asked: "3.2 ms before", that is when it ended. */
static void append_nearest(GString *out, JsonObject *answer, const char *how)
{
        JsonObject *nearest = json_object(answer, "nearest");
        JsonNode *distance = member(nearest, "distance");

        if (!nearest)
                return;
        if (distance && JSON_NODE_HOLDS_VALUE(distance)) {
                g_string_append_c(out, ' ');
                append_duration(out, json_node_get_double(distance));
                g_string_append_printf(out, " %s", how);
        }
        g_string_append(out, ": ");
        append_place(out, nearest);
}

static void append_ambiguous(GString *out, JsonObject *answer)
{
        JsonArray *candidates = json_array(answer, "candidates");
        const char *address = json_text(answer, "addr");
        guint i, n = candidates ? json_array_get_length(candidates) : 0;
        JsonNode *first = n ? json_array_get_element(candidates, 0) : NULL;

        g_string_append(out, ": ");
        if (first && JSON_NODE_HOLDS_OBJECT(first) &&
            json_object_has_member(json_node_get_object(first), "start")) {
                g_string_append_printf(out, "%u bodies, give a time (clrsym history -p ", n);
                if (json_integer(answer, "pid_ns"))
                        g_string_append_printf(out, "%" G_GINT64_FORMAT ":",
                                               json_integer(answer, "pid_ns"));
                g_string_append_printf(out, "%" G_GINT64_FORMAT " ", json_integer(answer, "pid"));
                printable_append(out, address ? address : "?");
                g_string_append_c(out, ')');
                return;
        }
        g_string_append_printf(out, "%u pid namespaces have that PID, give one of", n);
        for (i = 0; i < n; i++) {
                JsonNode *node = json_array_get_element(candidates, i);
                JsonObject *process =
                        JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;

                g_string_append_printf(out, " %" G_GINT64_FORMAT ":%" G_GINT64_FORMAT,
                                       json_integer(process, "pid_ns"),
                                       json_integer(process, "pid"));
        }
}

void answer_text_append(GString *out, JsonObject *answer)
{
        const char *address = json_text(answer, "addr"), *status = json_text(answer, "status");
        const char *confidence = json_text(answer, "confidence");
        const char *reason = json_text(answer, "reason");

        printable_append(out, address && *address ? address : "?");
        g_string_append_c(out, ' ');
        if (!g_strcmp0(status, "ok")) {
                append_ok(out, answer);
        } else {
                g_string_append(out, "?? ");
                printable_append(out, status ? status : "no status");
                if (!g_strcmp0(status, "ambiguous"))
                        append_ambiguous(out, answer);
                else if (!g_strcmp0(status, "unloaded"))
                        append_nearest(out, answer, "before");
                else if (!g_strcmp0(status, "not-yet"))
                        append_nearest(out, answer, "later");
                else if (!g_strcmp0(status, "pending"))
                        append_nearest(out, answer, "away");
                else if (reason) {
                        g_string_append(out, ": ");
                        printable_append(out, reason);
                }
        }
        if (confidence && strcmp(confidence, "exact") != 0)
                g_string_append(out, " ~");
}
