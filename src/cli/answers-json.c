/* SPDX-License-Identifier: MIT */
#include "cli/answers.h"
#include "cli/output.h"
#include "util/json-text.h"

/* Has the members of the daemon's answers, in their order. */
static void print_invalid(const AddressQuestion *question)
{
        json_auto_t *answer =
                json_pack("{s:n, s:n, s:s, s:n, s:s, s:s, s:n, s:n}", "pid", "pid_ns", "addr",
                          question->address, "time", "status", clrsym_status_name(CLRSYM_INVALID),
                          "reason", question->wrong, "confidence", "horizon");

        output_json(answer);
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
        g_autoptr(GString) line = g_string_new_len(answer.at, (gssize)answer.n);

        if (line->len && line->str[line->len - 1] == '}') {
                g_string_truncate(line, line->len - 1);
                line_source_append_json(lines, line, process->has_pid_ns ? 0 : process->pid,
                                        answer);
                g_string_append_c(line, '}');
        }
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

bool answers_print_json(AnswerSource *source, LineSource *lines, const AddressQuestion *questions,
                        size_t n, unsigned wait_ms, GError **error)
{
        GString *parameters = questions_parameters(questions, n, wait_ms);
        JsonPrinter printer = {.lines = lines, .questions = questions, .n = n};
        bool ok = true;

        if (parameters) {
                ok = answer_source_resolve(source, parameters->str, wait_ms, printer_take, &printer,
                                           error);
                g_string_free(parameters, TRUE);
        }
        if (!ok)
                return false;
        printer_skip_wrong(&printer);
        if (printer.n_printed < n)
                g_set_error(error, ANSWER_SOURCE_ERROR, 0, "the reply has too few answers");
        return printer.n_printed == n;
}
