/* SPDX-License-Identifier: MIT */
#include "cli/answers.h"
#include "cli/output.h"
#include "cli/symbol-text.h"
#include "util/file-name.h"
#include "util/printable-string.h"
#include "util/seconds-text.h"

#include <errno.h>
#include <string.h>

#define HEX "0x%" G_GINT64_MODIFIER "x"

clrsym_query address_question_query(const AddressQuestion *question)
{
        return (clrsym_query){
                .pid = question->process.pid,
                .has_pid_ns = question->process.has_pid_ns,
                .pid_ns = question->process.pid_ns,
                .has_time = question->time != NULL,
        };
}

bool address_from_text(const char *text, uint64_t *ret_address)
{
        const char *digits = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? text + 2 : text;
        size_t n = strspn(digits, "0123456789abcdefABCDEF");

        if (!n || n > 16 || digits[n])
                return false;
        *ret_address = g_ascii_strtoull(digits, NULL, 16);
        return true;
}

/*
 * Converts a time without a daemon: "473.414890639" of CLOCK_MONOTONIC, also with the colon that
 * perf appends, or nanoseconds, "473414890639". False for all other text; clrsym_time() may still
 * accept it.
 */
static bool time_from_plain_text(const char *text, uint64_t *ret_time)
{
        size_t n = strspn(text, "0123456789");
        uint64_t time;
        const char *end;
        char *end_of_ns;

        if (text[n] == '.') {
                end = seconds_parse(text, &time);
        } else {
                errno = 0;
                time = g_ascii_strtoull(text, &end_of_ns, 10);
                end = n && !errno ? end_of_ns : NULL;
        }
        if (!end || strcmp(end + (*end == ':'), "") != 0)
                return false;
        *ret_time = time;
        return true;
}

/* NS in the unit that leaves the fewest digits. */
static void append_duration(GString *out, int64_t ns)
{
        static const struct {
                double ns;
                const char *name;
        } UNITS[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
        double length = ns < 0 ? -(double)ns : (double)ns;
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(UNITS); i++)
                if (length >= UNITS[i].ns) {
                        g_string_append_printf(out, "%.1f %s", length / UNITS[i].ns, UNITS[i].name);
                        return;
                }
        g_string_append_printf(out, "%.0f ns", length);
}

/* "Foo.Bar()+0x10" */
static void append_place(GString *out, const clrsym_query *query, const clrsym_answer *answer)
{
        symbol_text_append(out, query->has_pid_ns ? 0 : query->pid, &answer->body);
        g_string_append_printf(out, "+" HEX, (guint64)answer->offset);
}

static void append_ok(GString *out, LineSource *lines, const clrsym_query *query,
                      const clrsym_answer *answer)
{
        const char *file = file_name_of(answer->body.module_path);

        append_place(out, query, answer);
        if (file && *file) {
                g_string_append(out, " (");
                printable_append(out, file);
                g_string_append_c(out, ')');
        }
        g_string_append_printf(out, " [%s]", clrsym_tier_name(answer->body.tier));
        if (lines)
                line_source_append_text(lines, out, query->has_pid_ns ? 0 : query->pid, answer);
        symbol_text_append_inlined(out, query->has_pid_ns ? 0 : query->pid, answer, lines != NULL);
}

static void append_bodies(GString *out, const clrsym_query *query, const clrsym_answer *answer)
{
        g_string_append_printf(out, ": %u bodies, give a time (clrsym history -p ",
                               answer->n_candidates);
        if (answer->pid_ns)
                g_string_append_printf(out, "%" G_GUINT64_FORMAT ":", (guint64)answer->pid_ns);
        g_string_append_printf(out, "%" G_GINT32_FORMAT " " HEX ")", answer->pid,
                               (guint64)query->address);
}

/* The distance in time to the nearest body: "3.2 ms before" if that body had ended by then. */
static void append_nearest(GString *out, const clrsym_query *query, const clrsym_answer *answer)
{
        static const char *const HOW[] = {
                [CLRSYM_UNLOADED] = "before",
                [CLRSYM_NOT_YET] = "later",
                [CLRSYM_PENDING] = "away",
        };

        if (!answer->has_body || answer->status >= G_N_ELEMENTS(HOW) || !HOW[answer->status])
                return;
        if (query->has_time) {
                g_string_append_c(out, ' ');
                append_duration(out, answer->distance);
                g_string_append_printf(out, " %s", HOW[answer->status]);
        }
        g_string_append(out, ": ");
        append_place(out, query, answer);
}

/* False if several processes have the pid, so that the answer names none. */
static bool append_answer(GString *out, LineSource *lines, const clrsym_query *query,
                          const clrsym_answer *answer)
{
        if (answer->status == CLRSYM_AMBIGUOUS && !answer->has_process)
                return false;
        g_string_append_printf(out, HEX " ", (guint64)query->address);
        if (answer->status == CLRSYM_OK) {
                append_ok(out, lines, query, answer);
        } else {
                g_string_append_printf(out, "?? %s", clrsym_status_name(answer->status));
                append_nearest(out, query, answer);
                if (answer->status == CLRSYM_PENDING && !answer->has_body)
                        g_string_append(out, ": events up to that time have not arrived");
                if (answer->status == CLRSYM_AMBIGUOUS)
                        append_bodies(out, query, answer);
        }
        if (answer->has_process && answer->confidence != CLRSYM_EXACT)
                g_string_append(out, " ~");
        return true;
}

/* "symbol+0xOFFSET (FILE) [native]"; the status stays if only the file is known. */
static void append_native(GString *out, const clrsym_query *query, const NativeName *native)
{
        g_string_append_printf(out, HEX " ", (guint64)query->address);
        if (!native->symbol)
                g_string_append_printf(out, "?? %s: ", clrsym_status_name(CLRSYM_NO_METHOD));
        native_name_append(native, out);
        if (!native->symbol)
                return;
        g_string_append(out, " (");
        printable_append(out, file_name_of(native->file));
        g_string_append_printf(out, ") [%s]",
                               native->source == FRAME_SOURCE_IMAGE ? "image" : "native");
}

/* Processes that have the pid of a question. */
typedef struct Namesakes {
        int32_t pid;
        uint64_t last_ns;
        unsigned n;
        GString *names;
} Namesakes;

static int answers_take_process(const clrsym_process *process, void *data)
{
        Namesakes *namesakes = data;

        /* Two generations of a process count once. */
        if (process->pid != namesakes->pid ||
            (namesakes->n && process->pid_ns == namesakes->last_ns))
                return 0;
        namesakes->last_ns = process->pid_ns;
        namesakes->n++;
        g_string_append_printf(namesakes->names, " %" G_GUINT64_FORMAT ":%" G_GINT32_FORMAT,
                               (guint64)process->pid_ns, process->pid);
        return 0;
}

static bool append_processes(GString *out, AnswerSource *source, const clrsym_query *query,
                             GError **error)
{
        g_autoptr(GString) names = g_string_new(NULL);
        Namesakes namesakes = {.pid = query->pid, .names = names};

        if (clrsym_processes(answer_source_handle(source), answers_take_process, &namesakes) < 0) {
                answer_source_set_error(source, error);
                return false;
        }
        g_string_append_printf(out, HEX " ?? %s: %u pid namespaces have that PID, give one of%s",
                               (guint64)query->address, clrsym_status_name(CLRSYM_AMBIGUOUS),
                               namesakes.n, names->str);
        return true;
}

/* Questions that are being answered. */
typedef struct Asking {
        AnswerSource *source;       /* borrowed */
        const AnswerExtras *extras; /* borrowed */
        size_t n;
        GPtrArray *lines; /* owned strings, by question: NULL until it is answered */
        GArray *queries;  /* owned: clrsym_query, of the questions without a line */
        /* The last time text that the daemon converted; borrowed. */
        const char *time_text;
        uint64_t time;
        char *time_wrong; /* owned: why TIME_TEXT is invalid; NULL: it is valid */
} Asking;

/* False with ERROR set if the call of the daemon fails. */
static bool asking_time(Asking *asking, const char *text, GError **error)
{
        int r;

        if (asking->time_text && !strcmp(asking->time_text, text))
                return true;
        asking->time_text = text;
        g_clear_pointer(&asking->time_wrong, g_free);
        r = clrsym_time(answer_source_handle(asking->source), text, &asking->time);
        if (r == -EINVAL)
                asking->time_wrong = g_strdup(clrsym_message(answer_source_handle(asking->source)));
        else if (r < 0)
                answer_source_set_error(asking->source, error);
        return r == 0 || r == -EINVAL;
}

static char *line_of_invalid(const AddressQuestion *question, const char *wrong)
{
        g_autoptr(GString) line = g_string_new(NULL);

        printable_append(line, *question->address ? question->address : "?");
        g_string_append_printf(line, " ?? %s: ", clrsym_status_name(CLRSYM_INVALID));
        printable_append(line, wrong);
        return g_string_free(g_steal_pointer(&line), FALSE);
}

/* Adds a query, or a line with the reason why the question is invalid. */
static bool asking_add(Asking *asking, const AddressQuestion *question, GError **error)
{
        clrsym_query query = address_question_query(question);
        const char *wrong = question->wrong;

        if (!wrong && !address_from_text(question->address, &query.address))
                wrong = "not a hexadecimal address";
        if (!wrong && question->time && !time_from_plain_text(question->time, &query.time)) {
                if (!asking_time(asking, question->time, error))
                        return false;
                wrong = asking->time_wrong;
                query.time = asking->time;
        }
        g_ptr_array_add(asking->lines, wrong ? line_of_invalid(question, wrong) : NULL);
        if (!wrong)
                g_array_append_val(asking->queries, query);
        return true;
}

/* A question whose line needs another call of the library: it has none yet, or only that no method
 * is there. */
typedef struct OpenLine {
        size_t line;
        const clrsym_query *query;
} OpenLine;

static bool asking_finish(Asking *asking, const OpenLine *open, GError **error)
{
        char *known = asking->lines->pdata[open->line];
        g_autoptr(GString) line = NULL;
        NativeName native;

        if (known && !native_processes_find(asking->extras->natives, open->query, &native))
                return true;
        line = g_string_new(NULL);
        if (known)
                append_native(line, open->query, &native);
        else if (!append_processes(line, asking->source, open->query, error))
                return false;
        g_free(known);
        asking->lines->pdata[open->line] = g_string_free(g_steal_pointer(&line), FALSE);
        return true;
}

/* Answers are valid until the next call, so all questions without a line are answered together. */
static bool asking_answer(Asking *asking, AnswerWait *wait, GError **error)
{
        guint n = asking->queries->len, i, j = 0;
        const clrsym_query *queries = (const void *)asking->queries->data;
        g_autofree clrsym_answer *answers = g_new(clrsym_answer, n);
        g_autoptr(GArray) left = g_array_new(FALSE, FALSE, sizeof(OpenLine));

        if (n && !answer_wait_resolve(wait, asking->source, queries, n, answers, error))
                return false;
        for (i = 0; i < asking->n; i++) {
                g_autoptr(GString) line = NULL;
                const OpenLine open = {.line = i, .query = &queries[j]};

                if (asking->lines->pdata[i])
                        continue;
                line = g_string_new(NULL);
                if (append_answer(line, asking->extras->lines, &queries[j], &answers[j]))
                        asking->lines->pdata[i] = g_string_free(g_steal_pointer(&line), FALSE);
                if (!asking->lines->pdata[i] ||
                    (asking->extras->natives && answers[j].status == CLRSYM_NO_METHOD))
                        g_array_append_val(left, open);
                j++;
        }
        if (asking->extras->natives)
                native_processes_refresh(asking->extras->natives);
        for (i = 0; i < left->len; i++)
                if (!asking_finish(asking, &g_array_index(left, OpenLine, i), error))
                        return false;
        return true;
}

bool answers_print_text(AnswerSource *source, const AnswerExtras *extras,
                        const AddressQuestion *questions, size_t n, AnswerWait *wait,
                        GError **error)
{
        Asking asking = {
                .source = source,
                .extras = extras,
                .n = n,
                .lines = g_ptr_array_new_with_free_func(g_free),
                .queries = g_array_new(FALSE, FALSE, sizeof(clrsym_query)),
        };
        bool ok = true;
        size_t i;

        for (i = 0; ok && i < n; i++)
                ok = asking_add(&asking, &questions[i], error);
        ok = ok && asking_answer(&asking, wait, error);
        for (i = 0; ok && i < n; i++)
                output_line(asking.lines->pdata[i], strlen(asking.lines->pdata[i]));
        g_ptr_array_unref(asking.lines);
        g_array_unref(asking.queries);
        g_free(asking.time_wrong);
        return ok;
}
