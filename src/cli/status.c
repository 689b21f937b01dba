/* SPDX-License-Identifier: MIT */
#include "cli/json-field.h"
#include "cli/answer-source.h"
#include "cli/holder-limits.h"
#include "cli/output.h"
#include "cli/session-table.h"
#include "cli/verbs.h"
#include "feed/session-report.h"
#include "util/printable-string.h"

#include <stdlib.h>
#include <string.h>

static void status_print_member(const char *name, const json_t *value)
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

/* Appends REPORT's members to the object TEXT, which stays verbatim. */
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
        if (json_object_size(report) == 0)
                return;
        if (is_json)
                output_json(report);
        else
                session_table_print(report, false);
}

bool verb_status(const Options *options, GError **error)
{
        bool is_json = options_has(options, OPTION_JSON);
        /* Who is traced now has nothing to do with a recorded trace. */
        json_auto_t *report = options->trace ? json_object() : session_report_new();
        json_t *limits = options->trace ? NULL : holder_limits_ask();
        g_autoptr(AnswerSource) source = answer_source_open(options, ANSWER_SOURCE_PLAIN, error);
        bool ok;
        JsonSpan reply;
        const char *name;
        json_auto_t *status = NULL;
        json_t *value;

        if (limits)
                json_object_set_new(report, "limits", limits);
        ok = source && answer_source_call(source, "Status", json_object(), 0, &reply, error);
        if (ok && is_json) {
                print_with(reply, report);
        } else if (ok) {
                status = json_span_load(reply);
                json_object_foreach(status, name, value) status_print_member(name, value);
                session_table_print(report, true);
                holder_limits_print(json_object_get(report, "limits"));
        } else {
                /* Without the daemon these are all the more important. */
                print_report(report, is_json);
        }
        return ok;
}
