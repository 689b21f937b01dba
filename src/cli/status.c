/* SPDX-License-Identifier: MIT */
#include "cli/answer-text.h"
#include "cli/verbs.h"
#include "cli/output.h"

static void print_member(JsonObject *object, const char *name, JsonNode *node, gpointer data)
{
        g_autoptr(GString) line = g_string_new(NULL);
        g_autofree char *value = json_node_get_value_type(node) == G_TYPE_STRING
                                         ? json_node_dup_string(node)
                                         : json_to_string(node, FALSE);

        printable_append(line, name);
        g_string_append(line, ": ");
        printable_append(line, value);
        output_print("%s\n", line->str);
}

bool verb_status(Link *link, const Options *options, GError **error)
{
        g_autoptr(JsonParser) parser = json_parser_new_immutable();
        JsonSpan reply;
        JsonNode *root;

        if (!link_call(link, "Status", "{}", 0, &reply, error))
                return false;
        if (options->is_json) {
                output_line(reply.at, reply.n);
                return true;
        }
        if (!json_parser_load_from_data(parser, reply.at, (gssize)reply.n, error))
                return false;
        root = json_parser_get_root(parser);
        if (JSON_NODE_HOLDS_OBJECT(root))
                json_object_foreach_member(json_node_get_object(root), print_member, NULL);
        return true;
}
