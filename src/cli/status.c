/* SPDX-License-Identifier: MIT */
#include "cli/json-field.h"
#include "cli/link.h"
#include "cli/output.h"
#include "cli/sessions.h"
#include "cli/verbs.h"
#include "feed/report.h"
#include "profile/printable.h"

#include <stdlib.h>
#include <string.h>

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

/* Behind what the object TEXT has, which stays as it is. */
static void print_with(JsonSpan text, const json_t *report)
{
        char *more = json_dumps(report, JSON_COMPACT);
        g_autoptr(GString) line = g_string_new_len(text.at, (gssize)text.n);

        if (json_object_size(report) > 0 && line->len > 2 && line->str[line->len - 1] == '}') {
                g_string_truncate(line, line->len - 1);
                g_string_append_c(line, ',');
                g_string_append(line, more + 1);
        }
        output_line(line->str, line->len);
        free(more);
}

static void print_report(const json_t *report, bool is_json)
{
        char *text;

        if (json_object_size(report) == 0)
                return;
        if (!is_json) {
                sessions_print(report, false);
                return;
        }
        text = json_dumps(report, JSON_COMPACT);
        output_line(text, strlen(text));
        free(text);
}

bool verb_status(const Options *options, GError **error)
{
        bool is_json = options_has(options, OPTION_JSON);
        /* Of a trace it is not asked who is traced now. */
        json_t *report = options->trace ? json_object() : report_new();
        g_autoptr(Link) link = link_open(options, LINK_PLAIN, error);
        bool ok;
        JsonSpan reply;
        const char *name;
        json_t *status, *value;

        ok = link && link_call(link, "Status", json_object(), 0, &reply, error);
        if (ok && is_json) {
                print_with(reply, report);
        } else if (ok) {
                status = json_span_load(reply);
                json_object_foreach(status, name, value) print_member(name, value);
                json_decref(status);
                sessions_print(report, true);
        } else {
                /* Without the daemon they are all the more of interest. */
                print_report(report, is_json);
        }
        json_decref(report);
        return ok;
}
