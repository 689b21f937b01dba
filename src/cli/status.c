/* SPDX-License-Identifier: MIT */
#include "cli/answer-source.h"
#include "cli/holder-limits.h"
#include "cli/json-field.h"
#include "cli/output.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "feed/session-report.h"
#include "util/printable-string.h"
#include "util/size-text.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The tracing sessions that clrsym started, and their feeders. */

static const Column SESSION_COLUMNS[] = {
        {"SESSION", false, 0, 0}, {"STATE", false, 0, 0}, {"TO", false, 2, 0},
        {"TRACKED", false, 3, 0}, {"DISK", true, 4, 0},   {"LOST", true, 1, 0},
        {"NOTE", false, 0, 0},
};
static const Column FEEDER_COLUMNS[] = {
        {"FEEDER OF", false, 0, 0}, {"STATE", false, 0, 0}, {"SINCE", false, 2, 0},
        {"RESTARTS", true, 3, 0},   {"PID", true, 4, 0},    {"LAST ERROR", false, 0, 0},
};

/* Texts for the states of a feeder. */
static const struct {
        const char *name, *text;
} STATES[] = {
        {"idle", "live, no program yet"},
        {"catching-up", "catching up"},
        {"from-files", "live, from files"},
        {"no-daemon", "waiting for clrsymd"},
        {"no-relayd", "waiting for lttng-relayd"},
        {"no-session", "waiting for the session"},
        {"failed", "backing off"},
};

static const char *state_text(const char *name)
{
        size_t i;

        for (i = 0; name && i < G_N_ELEMENTS(STATES); i++)
                if (!strcmp(name, STATES[i].name))
                        return STATES[i].text;
        return name;
}

static char *join_numbers(const json_t *numbers)
{
        GString *text = g_string_new(NULL);
        const json_t *number;
        size_t i;

        json_array_foreach(numbers, i, number)
        {
                g_string_append_printf(text, "%s%" JSON_INTEGER_FORMAT, i > 0 ? "," : "",
                                       json_integer_value(number));
        }
        return g_string_free(text, FALSE);
}

static void add_number(Table *table, const json_t *value)
{
        if (json_is_integer(value))
                table_add_format(table, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        else
                table_add(table, NULL);
}

static void add_size(Table *table, const json_t *value)
{
        g_autofree char *text =
                json_is_integer(value) ? size_to_text((uint64_t)json_integer_value(value)) : NULL;

        table_add(table, text);
}

static void add_session(Table *table, const json_t *row)
{
        g_autofree char *track = join_numbers(json_object_get(row, "track"));

        table_add(table, field_text(row, "name"));
        table_add(table, field_text(row, "state"));
        table_add(table,
                  json_is_true(json_object_get(row, "live")) ? "live" : field_text(row, "output"));
        table_add(table, *track ? track : "all");
        add_size(table, json_object_get(row, "disk"));
        add_number(table, json_object_get(row, "discarded_events"));
        table_add(table, field_text(row, "reason"));
}

static void add_feeder(Table *table, const json_t *row)
{
        const json_t *since = json_object_get(row, "since");
        g_autoptr(GDateTime) time =
                json_is_integer(since) ? g_date_time_new_from_unix_local(json_integer_value(since))
                                       : NULL;
        g_autofree char *text = time ? g_date_time_format(time, "%Y-%m-%d %H:%M:%S") : NULL;

        table_add(table, field_text(row, "session"));
        table_add(table, state_text(field_text(row, "state")));
        table_add(table, text);
        add_number(table, json_object_get(row, "restarts"));
        add_number(table, json_object_get(row, "pid"));
        table_add(table, field_text(row, "last_error"));
}

static void session_table_print_table(const json_t *rows, const Column *columns, guint n_columns,
                                      bool *is_continued,
                                      void (*add)(Table *table, const json_t *row))
{
        g_autoptr(Table) table = table_new(columns, n_columns);
        const json_t *row;
        size_t i;

        if (json_array_size(rows) == 0)
                return;
        json_array_foreach(rows, i, row) add(table, row);
        if (*is_continued)
                output_line("", 0);
        *is_continued = true;
        table_print(table);
}

/*
 * REPORT: from feed/session-report.h. Omits empty tables. Prints an empty line between two tables,
 * and, if IS_CONTINUED, before the first.
 */
static void session_table_print(const json_t *report, bool is_continued)
{
        session_table_print_table(json_object_get(report, "sessions"), SESSION_COLUMNS,
                                  G_N_ELEMENTS(SESSION_COLUMNS), &is_continued, add_session);
        session_table_print_table(json_object_get(report, "feeders"), FEEDER_COLUMNS,
                                  G_N_ELEMENTS(FEEDER_COLUMNS), &is_continued, add_feeder);
}

/* The status */

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
        /* The current sessions do not apply to a recorded trace. */
        json_auto_t *report = options->trace ? json_object() : session_report_new();
        json_t *limits = options->trace ? NULL : holder_limits_ask();
        g_autoptr(AnswerSource) source = answer_source_open(options, ANSWER_SOURCE_PLAIN, error);
        const char *name;
        json_auto_t *status = NULL;
        json_t *value;

        if (limits)
                json_object_set_new(report, "limits", limits);
        status = source ? answer_source_call(source, "Status", NULL, error) : NULL;
        if (status && is_json) {
                json_object_update(status, report);
                output_json(status);
        } else if (status) {
                json_object_foreach(status, name, value) status_print_member(name, value);
                session_table_print(report, true);
                holder_limits_print(json_object_get(report, "limits"));
        } else {
                /* Print the sessions even without the daemon, when they matter most. */
                print_report(report, is_json);
        }
        return status != NULL;
}
