/* SPDX-License-Identifier: MIT */
#include "cli/answers.h"
#include "cli/output.h"
#include "util/json-answer.h"
#include "util/json-text.h"

#include <string.h>

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

/* Questions that are being answered. */
typedef struct JsonAsking {
        const AddressQuestion *questions;
        size_t n;
        size_t next;        /* number of the next answer's question, or of an invalid question
                             * before it */
        LineSource *lines;  /* borrowed; NULL: no lines are wanted */
        bool may_ask_again; /* ask again if an answer is missing */
        bool is_missing;    /* an answer is missing that later events may bring */
        GPtrArray *texts;   /* owned strings, by question; NULL: not answered yet, or invalid */
} JsonAsking;

static int asking_append(JsonAsking *asking, GString *out, clrsym_row *row)
{
        const ProcessName *process = &asking->questions[asking->next].process;
        const char *json;
        size_t n;

        if (asking->lines)
                return line_source_append_answer(asking->lines, out,
                                                 process->has_pid_ns ? 0 : process->pid, row);
        json = clrsym_row_json(row, &n);
        json_append_bytes(out, json, n);
        return 0;
}

static int asking_take(clrsym_row *row, void *data)
{
        JsonAsking *asking = data;
        g_autoptr(GString) text = g_string_new(NULL);
        clrsym_answer answer;
        int r = 0;

        while (asking->next < asking->n && asking->questions[asking->next].wrong)
                asking->next++;
        if (asking->next == asking->n)
                return 1;
        if (asking->may_ask_again && (r = clrsym_row_answer(row, &answer)) == 0)
                asking->is_missing = asking->is_missing || answer_is_missing(&answer);
        if (r == 0)
                r = asking_append(asking, text, row);
        if (r == 0)
                asking->texts->pdata[asking->next++] = g_string_free(g_steal_pointer(&text), FALSE);
        return r;
}

static bool asking_ask(JsonAsking *asking, AnswerSource *source, unsigned wait_ms, GError **error)
{
        GString *parameters = questions_parameters(asking->questions, asking->n, wait_ms);
        bool ok = true;

        asking->next = 0;
        g_ptr_array_set_size(asking->texts, 0);
        g_ptr_array_set_size(asking->texts, (int)asking->n);
        if (parameters) {
                ok = answer_source_resolve(source, parameters->str, wait_ms, asking_take, asking,
                                           error);
                g_string_free(parameters, TRUE);
        }
        return ok;
}

/* Keeps the first answers unless later events may improve them. */
static bool asking_ask_twice(JsonAsking *asking, AnswerSource *source, AnswerWait *wait,
                             GError **error)
{
        unsigned wait_ms;
        bool ok = asking_ask(asking, source, answer_wait_first(wait), error);

        wait_ms = ok ? answer_wait_second(wait, asking->is_missing) : 0;
        if (wait_ms) {
                ok = asking_ask(asking, source, wait_ms, error);
                answer_wait_end(wait);
        }
        return ok;
}

bool answers_print_json(AnswerSource *source, LineSource *lines, const AddressQuestion *questions,
                        size_t n, AnswerWait *wait, GError **error)
{
        g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
        JsonAsking asking = {.questions = questions,
                             .n = n,
                             .lines = lines,
                             .may_ask_again = !wait->is_given,
                             .texts = texts};
        size_t i;

        if (!asking_ask_twice(&asking, source, wait, error))
                return false;
        for (i = 0; i < n; i++) {
                const char *text = texts->pdata[i];

                if (questions[i].wrong) {
                        print_invalid(&questions[i]);
                } else if (text) {
                        output_line(text, strlen(text));
                } else {
                        g_set_error(error, ANSWER_SOURCE_ERROR, 0, "the reply has too few answers");
                        return false;
                }
        }
        return true;
}
