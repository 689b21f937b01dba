/* SPDX-License-Identifier: MIT */
#include "cli/answers.h"
#include "cli/output.h"
#include "util/json-answer.h"
#include "util/json-text.h"

static void print_invalid(const AddressQuestion *question)
{
        g_autoptr(GString) line = g_string_new("{");

        json_invalid_append(line, question->address, question->wrong);
        g_string_append_c(line, '}');
        output_line(line->str, line->len);
}

static void query_append(GString *out, const AddressQuestion *question)
{
        const ProcessName *process = &question->process;

        g_string_append(out, "{\"pid\":");
        json_append_u64(out, (uint64_t)process->pid);
        g_string_append(out, ",\"addr\":");
        json_append_string(out, question->address);
        if (process->has_pid_ns) {
                g_string_append(out, ",\"pid_ns\":");
                json_append_u64(out, process->pid_ns);
        }
        if (question->time) {
                g_string_append(out, ",\"time\":");
                json_append_string(out, question->time);
        }
        g_string_append_c(out, '}');
}

/* The parameters of a call Resolve. Owned; NULL: all questions are wrong. */
static GString *questions_parameters(const AddressQuestion *questions, size_t n, unsigned wait_ms)
{
        GString *text = g_string_new(NULL);
        size_t n_asked = 0, i;

        g_string_append_printf(text, "{\"wait_ms\":%u,\"queries\":[", wait_ms);
        for (i = 0; i < n; i++) {
                if (questions[i].wrong)
                        continue;
                if (n_asked++)
                        g_string_append_c(text, ',');
                query_append(text, &questions[i]);
        }
        g_string_append(text, "]}");
        if (!n_asked)
                g_string_free(g_steal_pointer(&text), TRUE);
        return text;
}

/* The daemon's answer, and the members about its line. */
static void print_with_line(LineSource *lines, const AddressQuestion *question, JsonSpan answer)
{
        const ProcessName *process = &question->process;
        g_autoptr(GString) line = g_string_sized_new(answer.n + 1);

        line_source_append_answer(lines, line, process->has_pid_ns ? 0 : process->pid, answer);
        output_line(line->str, line->len);
}

/* Questions whose answers are printed in their order. */
typedef struct JsonPrinter {
        LineSource *lines;
        const AddressQuestion *questions;
        size_t n, n_printed;
} JsonPrinter;

/* Prints those that are wrong, up to one that has an answer. */
static void printer_skip_wrong(JsonPrinter *printer)
{
        for (; printer->n_printed < printer->n && printer->questions[printer->n_printed].wrong;
             printer->n_printed++)
                print_invalid(&printer->questions[printer->n_printed]);
}

static bool printer_take(JsonSpan answer, void *data)
{
        JsonPrinter *printer = data;

        printer_skip_wrong(printer);
        if (printer->n_printed == printer->n)
                return false;
        if (printer->lines)
                print_with_line(printer->lines, &printer->questions[printer->n_printed], answer);
        else
                output_line(answer.at, answer.n);
        printer->n_printed++;
        return true;
}

/* The answers of a first call. */
typedef struct JsonAnswers {
        GPtrArray *texts; /* owned GString */
        bool is_missing;  /* one may be there once more events have arrived */
} JsonAnswers;

static void json_text_free(gpointer text)
{
        g_string_free(text, TRUE);
}

static bool answers_keep(JsonSpan answer, void *data)
{
        static const char *const NAMES[] = {"status", "confidence"};
        JsonSpan members[G_N_ELEMENTS(NAMES)];
        JsonAnswers *answers = data;

        json_span_members(answer, NAMES, G_N_ELEMENTS(NAMES), members);
        if (json_span_is_text(members[0], "pending") ||
            json_span_is_text(members[0], "no-process") ||
            (json_span_is_text(members[0], "ambiguous") &&
             json_span_is_text(members[1], "provisional")))
                answers->is_missing = true;
        g_ptr_array_add(answers->texts, g_string_new_len(answer.at, (gssize)answer.n));
        return true;
}

static bool printer_ask(JsonPrinter *printer, AnswerSource *source, unsigned wait_ms,
                        AnswerRowFn fn, void *data, GError **error)
{
        GString *parameters = questions_parameters(printer->questions, printer->n, wait_ms);
        bool ok = true;

        if (parameters) {
                ok = answer_source_resolve(source, parameters->str, wait_ms, fn, data, error);
                g_string_free(parameters, TRUE);
        }
        return ok;
}

/* The first answers are printed unless they may become better. */
static bool printer_ask_twice(JsonPrinter *printer, AnswerSource *source, AnswerWait *wait,
                              GError **error)
{
        g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(json_text_free);
        JsonAnswers answers = {.texts = texts};
        unsigned wait_ms;
        bool ok;
        guint i;

        if (!printer_ask(printer, source, 0, answers_keep, &answers, error))
                return false;
        wait_ms = answer_wait_second(wait, answers.is_missing);
        if (wait_ms) {
                ok = printer_ask(printer, source, wait_ms, printer_take, printer, error);
                answer_wait_end(wait);
                return ok;
        }
        for (i = 0; i < texts->len; i++) {
                const GString *text = texts->pdata[i];

                printer_take((JsonSpan){text->str, text->len}, printer);
        }
        return true;
}

bool answers_print_json(AnswerSource *source, LineSource *lines, const AddressQuestion *questions,
                        size_t n, AnswerWait *wait, GError **error)
{
        JsonPrinter printer = {.lines = lines, .questions = questions, .n = n};

        if (!(wait->is_given
                      ? printer_ask(&printer, source, wait->ms, printer_take, &printer, error)
                      : printer_ask_twice(&printer, source, wait, error)))
                return false;
        printer_skip_wrong(&printer);
        if (printer.n_printed < n)
                g_set_error(error, ANSWER_SOURCE_ERROR, 0, "the reply has too few answers");
        return printer.n_printed == n;
}
