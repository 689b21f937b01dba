/* SPDX-License-Identifier: MIT */
#include "attach/client.h"
#include "cli/completeness.h"
#include "cli/json-field.h"
#include "cli/output.h"
#include "cli/table.h"
#include "cli/targets.h"
#include "cli/verbs.h"

/* For the daemon to be told all; a live session's timer is about a second. */
#define WAIT_MS 10000

/* What is done to one process. */
typedef struct Attaching {
        pid_t pid;
        int fd;         /* on which the answer comes; -1: it failed */
        json_t *answer; /* owned or NULL */
        bool is_complete;
        uint64_t n_methods;
} Attaching;

static const char *describe(const json_t *answer, bool is_again)
{
        if (!g_strcmp0(field_text(answer, "state"), "waiting"))
                return "attached before its start, waits for a debugging tool to let it go on";
        if (json_is_true(json_object_get(answer, "new")))
                return "attached";
        return is_again ? "listed again" : "is attached already";
}

static void print_text(const Attaching *attaching, bool is_again)
{
        const json_t *answer = attaching->answer;
        g_autoptr(GString) line = g_string_new(NULL);
        const char *runtime = field_text(answer, "runtime");

        targets_append_name(line, answer);
        g_string_append_printf(line, ": %s, .NET %s", describe(answer, is_again),
                               runtime ? runtime : "of old");
        if (attaching->is_complete)
                g_string_append_printf(line, ", %" G_GUINT64_FORMAT " methods, complete at %s",
                                       (guint64)attaching->n_methods,
                                       field_text(json_object_get(answer, "rundown"), "end"));
        output_line(line->str, line->len);
}

static void print_json(const Attaching *attaching)
{
        json_t *value = json_copy(attaching->answer);

        json_object_set_new(value, "methods",
                            attaching->is_complete ? json_integer((json_int_t)attaching->n_methods)
                                                   : json_null());
        json_object_set_new(
                value, "complete",
                attaching->is_complete
                        ? json_incref(json_object_get(json_object_get(value, "rundown"), "end"))
                        : json_null());
        targets_print_json(value);
}

/* Until the daemon knows all of it, if there is one. */
static void complete(Attaching *attaching, Completeness *completeness, gint64 deadline,
                     Targets *targets)
{
        const json_t *answer = attaching->answer;
        g_autoptr(GError) error = NULL;
        uint64_t end;

        if (!completeness || g_strcmp0(field_text(answer, "state"), "attached") ||
            !field_time(json_object_get(answer, "rundown"), "end", &end))
                return;
        attaching->is_complete = completeness_wait(
                completeness, (int32_t)field_number(answer, "vpid"), field_number(answer, "pid_ns"),
                end, deadline, &attaching->n_methods, &error);
        if (error)
                targets_fail(targets, attaching->pid, g_steal_pointer(&error));
}

static void ask(Attaching *attaching, RequestVerb verb, Targets *targets)
{
        const Request request = {.verb = verb, .pid = attaching->pid};
        g_autoptr(GError) error = NULL;

        attaching->fd = client_ask(&request, true, &error);
        if (error)
                targets_fail(targets, attaching->pid, g_steal_pointer(&error));
}

static void take_answer(Attaching *attaching, Targets *targets)
{
        g_autoptr(GError) error = NULL;

        if (attaching->fd < 0)
                return;
        attaching->answer = client_answer(attaching->fd, &error);
        if (error)
                targets_fail(targets, attaching->pid, g_steal_pointer(&error));
}

static bool attach(const Options *options, Targets *targets, GError **error)
{
        bool is_again = options_has(options, OPTION_AGAIN);
        unsigned wait_ms = options_has(options, OPTION_WAIT) ? options->wait_ms : WAIT_MS;
        g_autofree Attaching *all = g_new0(Attaching, targets->pids->len);
        g_autoptr(Completeness) completeness = NULL;
        g_autoptr(GError) no_daemon = NULL;
        gint64 deadline;
        guint i;

        if (wait_ms)
                completeness = completeness_new(options, &no_daemon);
        for (i = 0; i < targets->pids->len; i++) {
                all[i].pid = g_array_index(targets->pids, pid_t, i);
                ask(&all[i], is_again ? REQUEST_AGAIN : REQUEST_ATTACH, targets);
        }
        for (i = 0; i < targets->pids->len; i++)
                take_answer(&all[i], targets);
        deadline = g_get_monotonic_time() + (gint64)wait_ms * 1000;
        for (i = 0; i < targets->pids->len; i++) {
                if (!all[i].answer)
                        continue;
                complete(&all[i], completeness, deadline, targets);
                if (targets->is_json)
                        print_json(&all[i]);
                else
                        print_text(&all[i], is_again);
                json_decref(all[i].answer);
        }
        if (!targets_end(targets, error))
                return false;
        if (no_daemon) {
                g_propagate_prefixed_error(error, g_steal_pointer(&no_daemon),
                                           "attached, but nobody can be asked about it: ");
                return false;
        }
        return true;
}

static void print_table(const json_t *attachments)
{
        static const Column COLUMNS[] = {
                {"PID", true, 0, 0},    {"VPID", true, 3, 0},     {"NS", true, 5, 0},
                {"STATE", false, 0, 0}, {"RUNTIME", false, 2, 0}, {"SINCE", true, 4, 0},
                {"LISTED", true, 1, 0},
        };
        g_autoptr(Table) table = table_new(COLUMNS, G_N_ELEMENTS(COLUMNS));
        const json_t *row;
        size_t i;

        json_array_foreach(attachments, i, row)
        {
                table_add_format(table, "%" G_GUINT64_FORMAT, (guint64)field_number(row, "pid"));
                table_add_format(table, "%" G_GUINT64_FORMAT, (guint64)field_number(row, "vpid"));
                table_add_format(table, "%" G_GUINT64_FORMAT, (guint64)field_number(row, "pid_ns"));
                table_add(table, field_text(row, "state"));
                table_add(table, field_text(row, "runtime"));
                table_add(table, field_text(row, "since"));
                table_add(table, field_text(json_object_get(row, "rundown"), "end"));
        }
        table_print(table);
}

/* What is attached; without a holder, nothing is. */
static bool list(const Options *options, GError **error)
{
        const Request request = {.verb = REQUEST_LIST};
        g_autoptr(GError) failure = NULL;
        json_t *answer = NULL, *row, *attachments;
        int fd = client_ask(&request, false, &failure);
        size_t i;

        if (fd >= 0)
                answer = client_answer(fd, &failure);
        if (failure) {
                g_propagate_error(error, g_steal_pointer(&failure));
                return false;
        }
        attachments = json_object_get(answer, "attachments");
        if (!options_has(options, OPTION_JSON))
                print_table(attachments);
        else
                json_array_foreach(attachments, i, row) targets_print_json(json_incref(row));
        json_decref(answer);
        return true;
}

bool verb_attach(const Options *options, GError **error)
{
        g_auto(Targets) targets = {0};

        if (options_has(options, OPTION_LIST))
                return list(options, error);
        return targets_init(&targets, options, error) && attach(options, &targets, error);
}
