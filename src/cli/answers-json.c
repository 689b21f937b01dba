/* SPDX-License-Identifier: MIT */
#include "cli/answers.h"
#include "cli/output.h"

#include <stdlib.h>
#include <string.h>

/* With the members that the daemon's answers have, in their order. */
static void print_invalid(const AddressQuestion *question)
{
        json_t *answer =
                json_pack("{s:n, s:n, s:s, s:n, s:s, s:s, s:n, s:n}", "pid", "pid_ns", "addr",
                          question->address, "time", "status", clrsym_status_name(CLRSYM_INVALID),
                          "reason", question->wrong, "confidence", "horizon");
        char *text = json_dumps(answer, JSON_COMPACT);

        output_line(text, strlen(text));
        free(text);
        json_decref(answer);
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
static bool ask(Link *link, const AddressQuestion *questions, size_t n, unsigned wait_ms,
                JsonSpan *ret_answers, GError **error)
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
        if (!link_call(link, "Resolve",
                       json_pack("{s:i, s:o}", "wait_ms", (int)wait_ms, "queries", queries),
                       wait_ms, &reply, error))
                return false;
        json_span_member(reply, "answers", ret_answers);
        return true;
}

bool answers_print_json(Link *link, const AddressQuestion *questions, size_t n, unsigned wait_ms,
                        GError **error)
{
        JsonSpan answers, answer;
        size_t position = 0, i;

        if (!ask(link, questions, n, wait_ms, &answers, error))
                return false;
        for (i = 0; i < n; i++) {
                if (questions[i].wrong) {
                        print_invalid(&questions[i]);
                } else if (json_span_next(answers, &position, &answer)) {
                        output_line(answer.at, answer.n);
                } else {
                        g_set_error(error, LINK_ERROR, 0, "the reply has too few answers");
                        return false;
                }
        }
        return true;
}
