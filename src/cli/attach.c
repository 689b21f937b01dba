/* SPDX-License-Identifier: MIT */
#include "attach/holder-client.h"
#include "attach/processes.h"
#include "cli/attach-follow.h"
#include "cli/attach-manner.h"
#include "cli/wait-complete.h"
#include "cli/json-field.h"
#include "cli/output.h"
#include "cli/table.h"
#include "cli/pid-args.h"
#include "cli/verbs.h"
#include "util/clock.h"
#include "util/message.h"
#include "util/proc.h"

/* ms for the daemon to receive all events. The timer of a live session is about a second. */
#define WAIT_MS 10000

/* Until this age, in ns, a program may not have loaded its runtime; with a runtime, its port may
 * not be open. */
#define STARTING_NS UINT64_C(3000000000)
#define OPENING_NS  UINT64_C(10000000000)
/* us between two requests for such a program. */
#define STARTING_INTERVAL (50 * G_TIME_SPAN_MILLISECOND)

/* One process that is being attached. */
typedef struct Attaching {
        pid_t pid;
        int fd;         /* receives the answer; -1: the request failed */
        uint64_t asked; /* ns of CLOCK_MONOTONIC, of the last request */
        json_t *answer; /* owned or NULL */
        bool is_complete;
        bool has_failed; /* the failure was reported */
        uint64_t n_methods;
} Attaching;

/* True if the runtime is suspended at its start. */
static bool attaching_is_waiting(const json_t *answer)
{
        return !g_strcmp0(field_text(answer, "state"), "waiting");
}

/* True if the daemon has the listed code: it acknowledged the events, or answered about them. */
static bool attaching_is_in_daemon(const Attaching *attaching)
{
        return attaching->is_complete || json_is_true(json_object_get(attaching->answer, "fed"));
}

static const char *attaching_describe(const Attaching *attaching, bool is_again)
{
        const json_t *answer = attaching->answer;

        if (attaching_is_waiting(answer))
                return "attached before its start; it may wait for a debugging tool";
        if (!attaching_is_in_daemon(attaching))
                return "held";
        if (json_is_true(json_object_get(answer, "new")))
                return "attached";
        return is_again ? "listed again" : "is attached already";
}

/* Appends why older code of the process is not listed, if it is not. */
static void attaching_append_unlisted(GString *line, const json_t *answer)
{
        const char *unlisted = field_text(answer, "unlisted");

        if (!g_strcmp0(unlisted, "collectible"))
                g_string_append_printf(line,
                                       ", its older code is not listed, because it unloads load "
                                       "contexts: clrsym attach %" G_GUINT64_FORMAT " lists that "
                                       "code, but can crash .NET 10 (clrsym-attach(1), BUGS)",
                                       (guint64)field_number(answer, "pid"));
        else if (unlisted)
                g_string_append(line, ", its older code is not listed");
}

/* Appends why the daemon lacks the events, or that nobody asked the daemon. */
static void attaching_append_unfed(GString *line, const Attaching *attaching)
{
        const char *why = field_text(attaching->answer, "feed_error");

        if (why && !attaching->has_failed)
                g_string_append_printf(line, ", but %s", why);
        else if (!attaching->has_failed && !attaching_is_in_daemon(attaching) &&
                 !attaching_is_waiting(attaching->answer))
                g_string_append(line, ", its events come by LTTng; whether the daemon has them was "
                                      "not asked");
}

static void attaching_print_text(const Attaching *attaching, bool is_again)
{
        const json_t *answer = attaching->answer;
        g_autoptr(GString) line = g_string_new(NULL);
        const char *runtime = field_text(answer, "runtime");

        pid_args_append_name(line, answer);
        g_string_append_printf(line, ": %s, .NET %s", attaching_describe(attaching, is_again),
                               runtime ? runtime : "(older; version not reported)");
        if (attaching->is_complete)
                g_string_append_printf(line, ", %" G_GUINT64_FORMAT " methods, complete at %s",
                                       (guint64)attaching->n_methods,
                                       field_text(json_object_get(answer, "rundown"), "end"));
        attaching_append_unlisted(line, answer);
        attaching_append_unfed(line, attaching);
        output_line(line->str, line->len);
}

static void attaching_print_json(const Attaching *attaching)
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
        pid_args_print_json(value);
}

/* Takes over ERROR. */
static void attaching_fail(Attaching *attaching, PidArgs *args, GError *error)
{
        attaching->has_failed = true;
        pid_args_fail(args, attaching->pid, error);
}

/* Waits until a daemon, if one is to be asked, knows all code of the process. */
static void attaching_wait(Attaching *attaching, WaitComplete *wait, gint64 deadline, PidArgs *args)
{
        const json_t *answer = attaching->answer;
        const bool is_unlisted = field_text(answer, "unlisted") != NULL;
        const WaitTarget target = {.pid = (int32_t)attaching->pid,
                                   .vpid = (int32_t)field_number(answer, "vpid"),
                                   .pid_ns = field_number(answer, "pid_ns"),
                                   .is_eventpipe =
                                           !g_strcmp0(field_text(answer, "via"), "eventpipe")};
        const char *feed_error = field_text(answer, "feed_error");
        g_autoptr(GError) error = NULL;
        uint64_t end;

        if (feed_error) {
                g_set_error(
                        &error, ATTACH_ERROR, ATTACH_ERROR_FAILED,
                        "process %d is held, but %s; its events are kept until the daemon takes "
                        "them",
                        (int)attaching->pid, feed_error);
                attaching_fail(attaching, args, g_steal_pointer(&error));
                return;
        }
        if (!wait || is_unlisted || g_strcmp0(field_text(answer, "state"), "attached") ||
            !field_time(json_object_get(answer, "rundown"), "end", &end))
                return;
        attaching->is_complete =
                wait_complete_run(wait, &target, end, deadline, &attaching->n_methods, &error);
        if (error)
                attaching_fail(attaching, args, g_steal_pointer(&error));
}

static void attaching_ask(Attaching *attaching, const AttachManner *manner, PidArgs *args)
{
        const Request request = attach_manner_request(manner, attaching->pid);
        g_autoptr(GError) error = NULL;

        attaching->asked = (uint64_t)clock_ns(CLOCK_MONOTONIC);
        attaching->fd = holder_client_ask(&request, true, &error);
        if (error)
                attaching_fail(attaching, args, g_steal_pointer(&error));
}

/* True if the program had just started when it was asked: its runtime may be further now. */
static bool attaching_is_early(const Attaching *attaching, const GError *error)
{
        const uint64_t start = proc_start_time(attaching->pid);
        uint64_t age_limit = 0;

        if (g_error_matches(error, ATTACH_ERROR, ATTACH_ERROR_NOT_DOTNET) ||
            (attaching->answer && attaching_is_waiting(attaching->answer)))
                age_limit = STARTING_NS;
        else if (attach_error_is_early(error))
                age_limit = OPENING_NS;
        return start && start + age_limit > attaching->asked;
}

/* Asks again while the program starts. The first answer tells whether it was attached before. */
static void attaching_take_answer(Attaching *attaching, const AttachManner *manner, PidArgs *args)
{
        g_autoptr(GError) error = NULL;
        bool is_new = false;

        while (attaching->fd >= 0) {
                attaching->answer = holder_client_answer(attaching->fd, &error);
                attaching->fd = -1;
                is_new |= json_is_true(json_object_get(attaching->answer, "new"));
                if (!attaching_is_early(attaching, error))
                        break;
                g_clear_error(&error);
                g_clear_pointer(&attaching->answer, json_decref);
                g_usleep(STARTING_INTERVAL);
                attaching_ask(attaching, manner, args);
        }
        if (attaching->answer && is_new)
                json_object_set_new(attaching->answer, "new", json_true());
        if (error)
                attaching_fail(attaching, args, g_steal_pointer(&error));
}

static bool attach_all(const Options *options, PidArgs *args, GError **error)
{
        g_auto(AttachManner) manner = attach_manner_new(options);
        bool is_again = options_has(options, OPTION_AGAIN);
        unsigned wait_ms = options_has(options, OPTION_WAIT) ? options->wait_ms : WAIT_MS;
        g_autofree Attaching *all = g_new0(Attaching, args->pids->len);
        g_autoptr(WaitComplete) wait = NULL;
        g_autoptr(GError) no_daemon = NULL;
        gint64 deadline;
        guint i;

        attach_manner_refresh(&manner);
        if (wait_ms)
                wait = wait_complete_new(options, &no_daemon);
        for (i = 0; i < args->pids->len; i++) {
                all[i].pid = g_array_index(args->pids, pid_t, i);
                attaching_ask(&all[i], &manner, args);
        }
        for (i = 0; i < args->pids->len; i++)
                attaching_take_answer(&all[i], &manner, args);
        deadline = g_get_monotonic_time() + (gint64)wait_ms * 1000;
        for (i = 0; i < args->pids->len; i++) {
                if (!all[i].answer)
                        continue;
                if (wait_ms)
                        attaching_wait(&all[i], wait, deadline, args);
                if (args->is_json)
                        attaching_print_json(&all[i]);
                else
                        attaching_print_text(&all[i], is_again);
                json_decref(all[i].answer);
        }
        if (!pid_args_end(args, error))
                return false;
        if (no_daemon) {
                g_propagate_prefixed_error(error, g_steal_pointer(&no_daemon),
                                           "held, but the daemon cannot be asked: ");
                return false;
        }
        return true;
}

static void attaching_print_table(const json_t *attachments)
{
        static const Column COLUMNS[] = {
                {"PID", true, 0, 0},    {"VPID", true, 3, 0},     {"NS", true, 5, 0},
                {"STATE", false, 0, 0}, {"RUNTIME", false, 2, 0}, {"SINCE", true, 4, 0},
                {"LISTED", true, 1, 0}, {"VIA", false, 6, 0},
        };
        g_autoptr(Table) table = table_new(COLUMNS, G_N_ELEMENTS(COLUMNS));
        const json_t *row;
        size_t i;

        json_array_foreach(attachments, i, row)
        {
                table_add_format(table, "%" G_GUINT64_FORMAT, (guint64)field_number(row, "pid"));
                table_add_format(table, "%" G_GUINT64_FORMAT, (guint64)field_number(row, "vpid"));
                table_add_format(table, "%" G_GUINT64_FORMAT, (guint64)field_number(row, "pid_ns"));
                table_add(table,
                          json_is_false(json_object_get(row, "fed")) && !attaching_is_waiting(row)
                                  ? "held"
                                  : field_text(row, "state"));
                table_add(table, field_text(row, "runtime"));
                table_add(table, field_text(row, "since"));
                table_add(table, field_text(json_object_get(row, "rundown"), "end"));
                table_add(table, field_text(row, "via"));
        }
        table_print(table);
}

/* Without a holder, no process is attached. */
static bool attachments_list(const Options *options, GError **error)
{
        const Request request = {.verb = REQUEST_LIST};
        g_autoptr(GError) failure = NULL;
        json_auto_t *answer = NULL;
        json_t *row, *attachments;
        int fd = holder_client_ask(&request, false, &failure);
        size_t i;

        if (fd >= 0)
                answer = holder_client_answer(fd, &failure);
        if (failure) {
                g_propagate_error(error, g_steal_pointer(&failure));
                return false;
        }
        attachments = json_object_get(answer, "attachments");
        if (!options_has(options, OPTION_JSON))
                attaching_print_table(attachments);
        else
                json_array_foreach(attachments, i, row) pid_args_print_json(json_incref(row));
        return true;
}

static void on_followed(const json_t *answer, void *data)
{
        const PidArgs *args = data;
        const Attaching attaching = {.answer = (json_t *)answer};

        if (args->is_json)
                attaching_print_json(&attaching);
        else
                attaching_print_text(&attaching, /* is_again= */ false);
        output_flush();
}

static void on_follow_failed(pid_t pid, GError *error, void *data)
{
        PidArgs *args = data;

        pid_args_fail(args, pid, error);
        output_flush();
        /* Report now: with --follow the program has no end at which main() would. */
        message_print("clrsym", "%s", args->failure->message);
        g_clear_error(&args->failure);
}

static void on_follow_limited(uid_t uid, const char *text, void *data)
{
        message_print("clrsym", "user %u: %s", (unsigned)uid, text);
}

/* Returns only with ERROR set. */
static bool attach_and_follow(const Options *options, GError **error)
{
        g_auto(PidArgs) args = {.is_json = options_has(options, OPTION_JSON)};
        g_auto(AttachManner) manner = attach_manner_new(options);
        g_autoptr(ProcessFilter) filter = pid_args_filter(options, error);
        FollowSettings settings = {.manner = &manner,
                                   .filter = filter,
                                   .uid = PROCESSES_ANY_USER,
                                   .attached = on_followed,
                                   .failed = on_follow_failed,
                                   .limited = on_follow_limited,
                                   .data = &args};

        if (filter && (!options->user || pid_args_user(options, &settings.uid, error)))
                attach_follow(&settings);
        return false;
}

bool verb_attach(const Options *options, GError **error)
{
        g_auto(PidArgs) args = {0};

        if (options_has(options, OPTION_LIST) && !options->is_rule)
                return attachments_list(options, error);
        if (options_has(options, OPTION_FOLLOW))
                return attach_and_follow(options, error);
        return pid_args_init(&args, options, error) && attach_all(options, &args, error);
}
