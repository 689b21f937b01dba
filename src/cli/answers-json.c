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
        size_t next; /* number of the next answer's question, or of an invalid question
                      * before it */
        const AnswerExtras *extras; /* borrowed */
        bool may_ask_again;         /* ask again if an answer is missing */
        bool is_missing;            /* an answer is missing that later events may bring */
        GPtrArray *texts; /* owned strings, by question; NULL: not answered yet, or invalid */
        GArray *left; /* owned: numbers (size_t) of questions about addresses without a method */
} JsonAsking;

static int asking_append(JsonAsking *asking, GString *out, clrsym_row *row)
{
        const ProcessName *process = &asking->questions[asking->next].process;
        const char *json;
        size_t n;

        if (asking->extras->lines)
                return line_source_append_answer(asking->extras->lines, out,
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
        if ((asking->may_ask_again || asking->extras->natives) &&
            (r = clrsym_row_answer(row, &answer)) == 0) {
                asking->is_missing = asking->is_missing || answer_is_missing(&answer);
                if (answer.status == CLRSYM_NO_METHOD)
                        g_array_append_val(asking->left, asking->next);
        }
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
        g_array_set_size(asking->left, 0);
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

/* The member "native". */
static void native_append_json(GString *out, const NativeName *native)
{
        g_autofree char *file = g_utf8_make_valid(native->file, -1);

        g_string_append(out, ",\"native\":{\"file\":");
        json_append_string(out, file);
        if (native->symbol) {
                g_string_append(out, ",\"symbol\":");
                json_append_string(out, native->symbol);
                g_string_append(out, ",\"source\":");
                json_append_string(out, native->source == FRAME_SOURCE_IMAGE ? "image" : "symbol");
        }
        g_string_append(out, ",\"offset\":");
        json_append_u64(out, native->offset);
        g_string_append_c(out, '}');
}

/* Adds names of native code to the answers. */
static void asking_add_natives(JsonAsking *asking)
{
        guint i;

        if (!asking->extras->natives)
                return;
        native_processes_refresh(asking->extras->natives);
        for (i = 0; i < asking->left->len; i++) {
                const size_t number = g_array_index(asking->left, size_t, i);
                clrsym_query query = address_question_query(&asking->questions[number]);
                char *text = asking->texts->pdata[number];
                NativeName native;
                GString *added;

                if (!address_from_text(asking->questions[number].address, &query.address) ||
                    !native_processes_find(asking->extras->natives, &query, &native))
                        continue;
                added = g_string_new_len(text, (gssize)(strlen(text) - strlen("}")));
                native_append_json(added, &native);
                g_string_append_c(added, '}');
                g_free(text);
                asking->texts->pdata[number] = g_string_free(added, FALSE);
        }
}

bool answers_print_json(AnswerSource *source, const AnswerExtras *extras,
                        const AddressQuestion *questions, size_t n, AnswerWait *wait,
                        GError **error)
{
        g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GArray) left = g_array_new(FALSE, FALSE, sizeof(size_t));
        JsonAsking asking = {.questions = questions,
                             .n = n,
                             .extras = extras,
                             .may_ask_again = !wait->is_given,
                             .texts = texts,
                             .left = left};
        size_t i;

        if (!asking_ask_twice(&asking, source, wait, error))
                return false;
        asking_add_natives(&asking);
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
