/* SPDX-License-Identifier: MIT */
#include "cli/json-field.h"
#include "cli/link.h"
#include "cli/output.h"
#include "cli/printable.h"
#include "cli/verbs.h"

#include <stdlib.h>

static void print_member(const char *name, const json_t *value)
{
        g_autoptr(GString) line = g_string_new(NULL);

        printable_append(line, name);
        g_string_append(line, ": ");
        if (json_is_string(value)) {
                printable_append(line, json_string_value(value));
        } else {
                char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);

                printable_append(line, text ? text : "?");
                free(text);
        }
        output_line(line->str, line->len);
}

bool verb_status(const Options *options, GError **error)
{
        g_autoptr(Link) link = link_open(options, LINK_PLAIN, error);
        JsonSpan reply;
        const char *name;
        json_t *status, *value;

        if (!link || !link_call(link, "Status", json_object(), 0, &reply, error))
                return false;
        if (options_has(options, OPTION_JSON)) {
                output_line(reply.at, reply.n);
                return true;
        }
        status = json_span_load(reply);
        json_object_foreach(status, name, value) print_member(name, value);
        json_decref(status);
        return true;
}
