/* SPDX-License-Identifier: MIT */

/*
 * Resolve: addresses to names, as JSON
 *
 * A call can have 4096 questions, and wait for events. Questions are parsed once, one by one, until
 * the turn is over, and then answered in groups. A waiting call checks one question only: the first
 * whose answer may still change. Equal questions in one part of the reply are answered once.
 */

#include "query/answer-json.h"
#include "query/call.h"
#include "query/call-text.h"
#include "query/question-text.h"
#include "util/json-text.h"

#include <stdlib.h>
#include <string.h>

/* Questions of a group; after a slow question the group is smaller. */
enum { MAX_GROUP = 64, FIRST_GROUP = 16 };
/* Intended time of a group, in us. */
#define GROUP_US 500
/* Size at which a part of a reply ends: the caller reads it while the next part is made. */
#define MAX_PART_BYTES (64u << 10)

/* The JSON of an answer, as a range of the reply so far. */
typedef struct AnswerSpan {
        size_t begin, n;
        AnswerStatus status;
} AnswerSpan;

struct Resolve {
        size_t n;
        Question *questions; /* owned; by the index in the call */
        const char **wrong;  /* owned: NULL, or a question's error (static) */
        char **addresses;    /* owned, and their texts: addresses of wrong questions, or NULL */
        GString *text;       /* owned or NULL: text of the unparsed questions */
        size_t n_text_taken; /* its parsed bytes */
        size_t n_parsed;
        unsigned wait_ms; /* ms; 0: answer now */
        uint64_t asked;   /* ns: time of the call; 0: a trace */
        size_t n_due;     /* questions from the start whose answers are final */
        size_t n_answered;
        size_t part_begin; /* first question of the present part */
        unsigned n_group;
        bool is_begun;      /* the present part has begun */
        AnswerSpan *spans;  /* owned: of the answered questions */
        GHashTable *first;  /* owned: Question * -> index of the first equal question + 1 */
        GString *processes; /* owned: JSON of the answers' processes, each once */
        GHashTable *seen;   /* owned: their serial numbers */
};

static Resolve *resolve_new(size_t n, unsigned wait_ms)
{
        Resolve *resolve = g_new0(Resolve, 1);

        resolve->n = n;
        resolve->questions = g_new0(Question, n);
        resolve->wrong = g_new0(const char *, n);
        resolve->addresses = g_new0(char *, n + 1);
        resolve->wait_ms = wait_ms;
        resolve->n_group = FIRST_GROUP;
        resolve->spans = g_new(AnswerSpan, n);
        resolve->first = g_hash_table_new(question_hash, question_equal);
        resolve->processes = g_string_new(NULL);
        resolve->seen = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
        return resolve;
}

void resolve_free(Resolve *resolve)
{
        size_t i;

        if (!resolve)
                return;
        for (i = 0; i < resolve->n; i++)
                g_free(resolve->addresses[i]);
        g_free(resolve->addresses);
        g_free(resolve->questions);
        g_free(resolve->wrong);
        g_free(resolve->spans);
        if (resolve->text)
                g_string_free(resolve->text, TRUE);
        g_string_free(resolve->processes, TRUE);
        g_hash_table_unref(resolve->first);
        g_hash_table_unref(resolve->seen);
        g_free(resolve);
}

size_t resolve_size(const Resolve *resolve)
{
        size_t entry = sizeof(*resolve->questions) + sizeof(*resolve->wrong) +
                       sizeof(*resolve->addresses) + sizeof(*resolve->spans) + 48;

        return sizeof(*resolve) + resolve->n * entry + resolve->processes->len +
               (resolve->text ? resolve->text->len : 0) + g_hash_table_size(resolve->seen) * 64;
}

/* Returns NULL, or the error of the query (static). */
static const char *question_parse(Call *call, const json_t *query, Question *question)
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
        return call_time_from_json(call, json_object_get(query, "time"), &question->time);
}

/* The text of the queries, without brackets; NULL: the call has no queries. */
static GString *resolve_queries(Call *call)
{
        const json_t *queries = json_object_get(call->parameters, "queries");
        char *text;
        GString *inner;

        if (*call->queries)
                return g_steal_pointer(call->queries);
        if (!json_is_array(queries))
                return NULL;
        /* The parameter's name had escapes, so the text was not found. */
        text = json_dumps(queries, JSON_COMPACT);
        inner = g_string_new_len(text + 1, (gssize)strlen(text) - 2);
        free(text);
        return inner;
}

/* NULL: a parameter is invalid, and the call's `wrong` is set. */
static Resolve *resolve_begin(Call *call)
{
        GString *text = resolve_queries(call);
        size_t n = text ? call_text_count_elements(text->str, text->len) : 0;
        int64_t wait_ms = 0;
        Resolve *resolve;

        if (!text || n > QUERY_MAX_BATCH)
                call->wrong = "queries";
        else if (param_has(call->parameters, "wait_ms") &&
                 !param_integer(call->parameters, "wait_ms", 0, G_MAXINT32, &wait_ms))
                call->wrong = "wait_ms";
        if (call->wrong) {
                if (text)
                        g_string_free(text, TRUE);
                return NULL;
        }
        resolve = resolve_new(n, (unsigned)MIN(wait_ms, QUERY_MAX_WAIT_MS));
        resolve->text = text;
        resolve->asked = query_now(call->context);
        return resolve;
}

/* False, with the call's `error` set: the next query is not JSON, or too large. */
static bool resolve_parse_next(Resolve *resolve, Call *call)
{
        const char *text = resolve->text->str + resolve->n_text_taken;
        size_t n = resolve->text->len - resolve->n_text_taken, i = resolve->n_parsed;
        size_t n_query = call_text_element_end(text, n);
        bool is_large = false, is_read = question_from_text(text, n_query, &resolve->questions[i]);
        json_auto_t *query = is_read ? NULL : call_text_parse(text, n_query, &is_large);

        if (is_large) {
                call_refuse_size(call);
        } else if (!is_read && !query) {
                call->error = "org.clrsym.Symbolizer.InvalidCall";
                call->error_key = "reason";
                call->error_value = CALL_NO_OBJECT;
        }
        if (call->error)
                return false;
        if (!is_read)
                resolve->wrong[i] = question_parse(call, query, &resolve->questions[i]);
        if (resolve->wrong[i])
                resolve->addresses[i] = g_strdup(param_string(query, "addr"));
        resolve->questions[i].asked = resolve->asked;
        resolve->n_text_taken += MIN(n_query + 1, n);
        resolve->n_parsed++;
        return true;
}

/* False, with `error` or `next` set: the call is invalid, or its turn is over. */
static bool resolve_parse(Resolve *resolve, Call *call)
{
        while (resolve->n_parsed < resolve->n) {
                if (!resolve_parse_next(resolve, call))
                        return false;
                if (resolve->n_parsed < resolve->n && call_is_turn_over(call)) {
                        call->next = QUERY_AGAIN;
                        return false;
                }
        }
        if (resolve->text)
                g_string_free(g_steal_pointer(&resolve->text), TRUE);
        return true;
}

/* False if the answer may still change. */
static bool question_is_due(const Call *call, const Question *question)
{
        Answer answer;
        uint64_t time;

        answer_question(call->context->tracker, &call->context->viewer, question, &answer);
        time = answer_wait_time(question, &answer);
        if (time)
                call->progress->wait =
                        query_wait_begin(call->context->tracker, answer.process, time);
        answer_clear(&answer);
        return !time;
}

/* False, with `next` set: the call has to wait, or its turn is over. */
static bool resolve_is_due(Resolve *resolve, Call *call)
{
        if (!resolve->wait_ms || call->context->is_final || resolve->n_answered)
                return true;
        while (resolve->n_due < resolve->n) {
                if (!resolve->wrong[resolve->n_due] &&
                    !question_is_due(call, &resolve->questions[resolve->n_due])) {
                        call->next = QUERY_WAIT;
                        call->progress->wait_ms = resolve->wait_ms;
                        return false;
                }
                resolve->n_due++;
                if (call_is_turn_over(call)) {
                        call->next = QUERY_AGAIN;
                        return false;
                }
        }
        return true;
}

static void resolve_add_process(Resolve *resolve, const Process *process)
{
        guint64 *serial;

        if (!process || g_hash_table_contains(resolve->seen, &process->serial))
                return;
        serial = g_new(guint64, 1);
        *serial = process->serial;
        g_hash_table_add(resolve->seen, serial);
        if (resolve->processes->len)
                g_string_append_c(resolve->processes, ',');
        process_key_json_append(resolve->processes, process);
}

/*
 * Appends the answer to question I. ANSWER NULL: the question is invalid, or equal to an earlier
 * one.
 */
static void resolve_add_answer(Resolve *resolve, GString *out, size_t i, const Answer *answer)
{
        AnswerSpan *span = &resolve->spans[i];

        if (i > resolve->part_begin)
                g_string_append_c(out, ',');
        *span = (AnswerSpan){.begin = out->len, .status = ANSWER_INVALID};
        if (resolve->wrong[i]) {
                answer_json_append_invalid(out, resolve->addresses[i], resolve->wrong[i]);
        } else if (answer) {
                span->status = answer->status;
                answer_json_append(out, &resolve->questions[i], answer);
                resolve_add_process(resolve, answer->process);
        } else {
                gpointer first = g_hash_table_lookup(resolve->first, &resolve->questions[i]);
                const AnswerSpan *equal = &resolve->spans[GPOINTER_TO_SIZE(first) - 1];

                span->status = equal->status;
                g_string_append_len(out, out->str + equal->begin, (gssize)equal->n);
        }
        span->n = out->len - span->begin;
}

/* False if the JSON of an equal question can be copied. */
static bool resolve_is_first(const Resolve *resolve, const GString *out, size_t number)
{
        gpointer first = g_hash_table_lookup(resolve->first, &resolve->questions[number]);
        size_t i = GPOINTER_TO_SIZE(first) - 1;

        /* A question answered in this group has no span yet. */
        return !first || i == number || i < resolve->part_begin ||
               (i < resolve->n_answered && resolve->spans[i].status == ANSWER_AMBIGUOUS &&
                resolve->spans[i].begin < ANSWER_JSON_CANDIDATE_BYTES &&
                out->len >= ANSWER_JSON_CANDIDATE_BYTES);
}

/* Picks the next questions that are valid, and not equal to an earlier one. */
static size_t resolve_pick(Resolve *resolve, const GString *out, size_t n, Question *picked,
                           bool *is_picked)
{
        size_t n_picked = 0, i;

        for (i = 0; i < n; i++) {
                Question *question = &resolve->questions[resolve->n_answered + i];

                is_picked[i] = !resolve->wrong[resolve->n_answered + i] &&
                               resolve_is_first(resolve, out, resolve->n_answered + i);
                if (!is_picked[i])
                        continue;
                g_hash_table_insert(resolve->first, question,
                                    GSIZE_TO_POINTER(resolve->n_answered + i + 1));
                picked[n_picked++] = *question;
        }
        return n_picked;
}

/* False, with the call's `error` set: the reply is too long. */
static bool resolve_answer_group(Resolve *resolve, Call *call)
{
        size_t n = MIN(resolve->n_group, resolve->n - resolve->n_answered), i;
        Question questions[MAX_GROUP] = {0};
        Answer answers[MAX_GROUP];
        bool is_picked[MAX_GROUP], is_short = true;
        size_t n_picked = resolve_pick(resolve, call->out, n, questions, is_picked), k = 0;

        n_picked = answer_questions(call->context->tracker, &call->context->viewer, questions,
                                    n_picked, call->context->turn_end, answers);
        /*
         * Long names are slow to write: if the turn ends, the next turn looks up the rest of the
         * group again.
         */
        for (i = 0; i < n && (!i || !call_is_turn_over(call)); i++, resolve->n_answered++) {
                const Answer *answer = NULL;

                if (is_picked[i] && k == n_picked)
                        break;
                if (is_picked[i])
                        answer = &answers[k++];

                is_short = is_short && call->out->len <= QUERY_MAX_REPLY;
                if (is_short)
                        resolve_add_answer(resolve, call->out, resolve->n_answered, answer);
        }
        for (i = 0; i < n_picked; i++)
                answer_clear(&answers[i]);
        return !call_is_too_long(call, "16 MiB a reply: ask for less at once");
}

/* True if the present part is large enough. */
static bool resolve_has_part(const Resolve *resolve, const Call *call)
{
        return resolve->n_answered == resolve->n ||
               (call->is_more && call->out->len > MAX_PART_BYTES);
}

/* False, with `next` or `error` set: the part is incomplete. */
static bool resolve_answer(Resolve *resolve, Call *call)
{
        if (!resolve->is_begun)
                g_string_append(call->out, "{\"answers\":[");
        resolve->is_begun = true;
        while (!resolve_has_part(resolve, call)) {
                gint64 begin = g_get_monotonic_time();

                if (!resolve_answer_group(resolve, call))
                        return false;
                resolve->n_group = g_get_monotonic_time() - begin > GROUP_US
                                           ? MAX(resolve->n_group / 2, 1)
                                           : MIN(resolve->n_group * 2, MAX_GROUP);
                if (!resolve_has_part(resolve, call) && call_is_turn_over(call)) {
                        call->next = QUERY_AGAIN;
                        return false;
                }
        }
        return true;
}

static void resolve_end_part(Resolve *resolve, Call *call)
{
        g_string_append(call->out, "],\"processes\":[");
        g_string_append_len(call->out, resolve->processes->str, (gssize)resolve->processes->len);
        g_string_append(call->out, "]}");
        g_string_truncate(resolve->processes, 0);
        resolve->part_begin = resolve->n_answered;
        resolve->is_begun = false;
        if (resolve->n_answered < resolve->n)
                call->next = QUERY_MORE;
}

void call_resolve(Call *call)
{
        Resolve *resolve = call->progress->resolve;
        size_t i;

        if (!resolve)
                resolve = call->progress->resolve = resolve_begin(call);
        if (!resolve || !resolve_parse(resolve, call) || !resolve_is_due(resolve, call) ||
            !resolve_answer(resolve, call))
                return;
        i = resolve->part_begin;
        resolve_end_part(resolve, call);
        for (; call->context->stats && i < resolve->n_answered; i++)
                call->context->stats->answers[resolve->spans[i].status]++;
}
