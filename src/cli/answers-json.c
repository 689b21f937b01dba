/* SPDX-License-Identifier: MIT */
#include "cli/answers.h"
#include "cli/output.h"

/* Has the members of the daemon's answers, in their order. */
static void print_invalid(const AddressQuestion *question)
{
        json_auto_t *answer =
                json_pack("{s:n, s:n, s:s, s:n, s:s, s:s, s:n, s:n}", "pid", "pid_ns", "addr",
                          question->address, "time", "status", clrsym_status_name(CLRSYM_INVALID),
                          "reason", question->wrong, "confidence", "horizon");

        output_json(answer);
}

static json_t *query_of(const AddressQuestion *question)
{
        const ProcessName *process = &question->process;
        json_t *query =
                json_pack("{s:i, s:s}", "pid", (int)process->pid, "addr", question->address);

        if (process->has_pid_ns)
                json_object_set_new(query, "pid_ns", json_integer((json_int_t)process->pid_ns));
        if (question->time)
                json_object_set_new(query, "time", json_string(question->time));
        return query;
}

/* RET_ANSWERS is borrowed until the next call. */
static bool questions_ask(AnswerSource *source, const AddressQuestion *questions, size_t n,
                          unsigned wait_ms, JsonSpan *ret_answers, GError **error)
{
        json_t *queries = json_array();
        JsonSpan reply;
        size_t i;

        for (i = 0; i < n; i++)
                if (!questions[i].wrong)
                        json_array_append_new(queries, query_of(&questions[i]));
        *ret_answers = (JsonSpan){"", 0};
        if (!json_array_size(queries)) {
                json_decref(queries);
                return true;
        }
        if (!answer_source_call(
                    source, "Resolve",
                    json_pack("{s:i, s:o}", "wait_ms", (int)wait_ms, "queries", queries), wait_ms,
                    &reply, error))
                return false;
        json_span_member(reply, "answers", ret_answers);
        return true;
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

bool answers_print_json(AnswerSource *source, LineSource *lines, const AddressQuestion *questions,
                        size_t n, unsigned wait_ms, GError **error)
{
        JsonSpan answers, answer;
        size_t position = 0, i;

        if (!questions_ask(source, questions, n, wait_ms, &answers, error))
                return false;
        for (i = 0; i < n; i++) {
                if (questions[i].wrong) {
                        print_invalid(&questions[i]);
                } else if (json_span_next(answers, &position, &answer)) {
                        if (lines)
                                print_with_line(lines, &questions[i], answer);
                        else
                                output_line(answer.at, answer.n);
                } else {
                        g_set_error(error, ANSWER_SOURCE_ERROR, 0, "the reply has too few answers");
                        return false;
                }
        }
        return true;
}
