/* SPDX-License-Identifier: MIT */

/*
 * Resolve: addresses to names, as JSON
 */

#include "core/json-text.h"
#include "query/answer-json.h"
#include "query/call.h"

/* Bytes of a reply: several times what names of good length take. */
#define MAX_BYTES (16u << 20)

/* NULL, or what is wrong with the query (static). */
static const char *parse_question(const json_t *query, const TimeContext *times, Question *question)
{
        const char *text;
        int64_t i;

        *question = (Question){0};
        if (!json_is_object(query))
                return "a query is an object";
        if (!param_integer(query, "pid", 1, INT32_MAX, &i))
                return "pid: a number from 1 on";
        question->pid = (int32_t)i;
        if (param_has(query, "pid_ns")) {
                if (!param_integer(query, "pid_ns", 0, INT64_MAX, &i))
                        return "pid_ns: the inode number of a pid namespace";
                question->has_pid_ns = true;
                question->pid_ns = (uint64_t)i;
        }
        text = param_string(query, "addr");
        if (!text || !param_address(text, &question->address))
                return "addr: not a hexadecimal address";
        if (!param_has(query, "time"))
                return NULL;
        question->has_time = true;
        return time_from_json(json_object_get(query, "time"), times, &question->time);
}

/* The processes that answers are of, each once. */
static void append_processes(GString *out, const Answer *answers, size_t n)
{
        g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
        const Process *last = NULL;
        size_t i;

        g_string_append(out, ",\"processes\":[");
        for (i = 0; i < n; i++) {
                const Process *process = answers[i].process;

                if (!process || process == last || !g_hash_table_add(seen, (gpointer)process))
                        continue;
                if (last)
                        g_string_append_c(out, ',');
                process_key_json_append(out, process);
                last = process;
        }
        g_string_append_c(out, ']');
}

/* False, with the call's `error` set, if they are too long. */
static bool append_answers(Call *call, const json_t *queries, const Question *questions,
                           const char *const *wrong, const Answer *answers, size_t n)
{
        size_t i;

        g_string_append(call->out, "{\"answers\":[");
        for (i = 0; i < n; i++) {
                if (i)
                        g_string_append_c(call->out, ',');
                if (wrong[i])
                        answer_json_append_invalid(call->out,
                                                   param_string(json_array_get(queries, i), "addr"),
                                                   wrong[i]);
                else
                        answer_json_append(call->out, &questions[i], &answers[i]);
                if (call->out->len > MAX_BYTES) {
                        call->error = "org.clrsym.Symbolizer.LimitExceeded";
                        call->error_key = "limit";
                        call->error_value = "16 MiB a reply: ask for less at once";
                        return false;
                }
        }
        g_string_append_c(call->out, ']');
        append_processes(call->out, answers, n);
        g_string_append_c(call->out, '}');
        return true;
}

void call_resolve(Call *call)
{
        const json_t *queries = json_object_get(call->parameters, "queries");
        size_t n = json_array_size(queries), i;
        g_autofree Question *questions = NULL;
        g_autofree const char **wrong = NULL;
        g_autofree Answer *answers = NULL;
        TimeContext times;
        int64_t wait_ms = 0;
        bool is_late = false;

        call->wrong = "queries";
        if (!json_is_array(queries) || n > QUERY_MAX_BATCH)
                return;
        call->wrong = "wait_ms";
        if (param_has(call->parameters, "wait_ms") &&
            !param_integer(call->parameters, "wait_ms", 0, G_MAXINT32, &wait_ms))
                return;
        call->wrong = NULL;
        questions = g_new(Question, n);
        wrong = g_new(const char *, n);
        answers = g_new(Answer, n);
        call_time_context(call, &times);
        for (i = 0; i < n; i++)
                wrong[i] = parse_question(json_array_get(queries, i), &times, &questions[i]);
        answer_questions(call->context->tracker, &call->context->viewer, questions, n, answers);
        for (i = 0; i < n; i++) {
                if (wrong[i])
                        answers[i].status = ANSWER_INVALID;
                else
                        is_late |= questions[i].has_time && questions[i].time > answers[i].horizon;
        }
        if (is_late && wait_ms && !call->context->is_final) {
                call->next = QUERY_WAIT;
                call->progress->wait_ms = (unsigned)wait_ms;
        } else if (append_answers(call, queries, questions, wrong, answers, n)) {
                for (i = 0; call->context->stats && i < n; i++)
                        call->context->stats->answers[answers[i].status]++;
        }
        for (i = 0; i < n; i++)
                answer_clear(&answers[i]);
}
