/* SPDX-License-Identifier: MIT */
#include "names-batch.h"

#include "named-fields.h"

#include "perf/osr-callers.h"
#include "perf/verdict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Slots of a batch; the last event may exceed it. */
#define MAX_SLOTS 16384
/* After a timeout, waits are skipped for this multiple of the timeout. */
#define WAIT_PAUSE 20
/* Pause before the next attempt if the daemon does not answer, in us. */
#define FAILURE_PAUSE (5 * G_TIME_SPAN_SECOND)

/* Marks names that later or lost events can change. */
#define MARK " ~"

/* A field that waits for its texts. */
typedef struct NameSlot {
        bt_field *field; /* borrowed */
        uint64_t ip;
        uint64_t time; /* ns: time of the query; for a mixed place, later the index of the answer */
        uint32_t place; /* INDEX_NONE: no query, and the texts are set */
        bool has_callee;
} NameSlot;

/*
 * An address of a process; it can occur many times in a batch. The first and the last of these
 * times are queried. If both answers are one body, it was there throughout. If no code or process
 * was ever there, the time does not matter. Otherwise each time is queried.
 */
typedef struct NamePlace {
        clrsym_query query; /* for the first time; its address is in the executed instruction */
        uint64_t ip;        /* as in the events */
        uint64_t last;      /* ns: last time */
        size_t answer;      /* index of the first answer; LAST's answer follows if it differs */
        bool is_mixed;      /* each slot has an answer of its own, in order, from ANSWER on */
        char *func, *src;   /* owned: texts of the name; NULL: not made yet, or none */
        const char *bin;    /* borrowed from the answer or the frames */
} NamePlace;

/* Reasons for an address without a name; NULL: the runtime never reported code there. */
static const char *const REASONS[] = {
        [CLRSYM_UNLOADED] = "[unloaded]",   [CLRSYM_NOT_YET] = "[not loaded yet]",
        [CLRSYM_AMBIGUOUS] = "[ambiguous]", [CLRSYM_PENDING] = "[pending]",
        [CLRSYM_EVICTED] = "[evicted]",     [CLRSYM_INVALID] = NULL,
};

bool names_batch_init(NamesBatch *batch, const NamesSettings *settings, char **ret_message)
{
        const clrsym_options options = {
                .size = sizeof(options), .socket = settings->socket, .trace = settings->trace};

        *ret_message = NULL;
        *batch = (NamesBatch){
                .settings = settings,
                .slots = g_array_new(FALSE, FALSE, sizeof(NameSlot)),
                .places = g_array_new(FALSE, FALSE, sizeof(NamePlace)),
                .queries = g_array_new(FALSE, FALSE, sizeof(clrsym_query)),
        };
        return frames_init(&batch->frames, settings->style) &&
               (!settings->has_lines || clrsym_lines_new(&batch->lines) == 0) &&
               clrsym_open(&batch->handle, &options, ret_message) == 0;
}

void names_batch_deinit(NamesBatch *batch)
{
        if (!batch->settings)
                return;
        names_batch_clear(batch);
        clrsym_close(batch->handle);
        clrsym_lines_free(batch->lines);
        frames_deinit(&batch->frames);
        hash_index_deinit(&batch->by_address);
        g_array_unref(batch->slots);
        g_array_unref(batch->places);
        g_array_unref(batch->queries);
        free(batch->answers);
        *batch = (NamesBatch){0};
}

static NamePlace *batch_place(const NamesBatch *batch, uint32_t number)
{
        return &g_array_index(batch->places, NamePlace, number);
}

/*
 * TEXT may be NULL. Sets empty texts, too, because babeltrace2 2.0 shows a cleared text unchanged.
 */
static bool field_set_text(bt_field *structure, NameMember member, const char *text)
{
        return bt_field_string_set_value(
                       bt_field_structure_borrow_member_field_by_index(structure, member),
                       text ? text : "") == BT_FIELD_STRING_SET_VALUE_STATUS_OK;
}

static bool field_set_name(bt_field *field, const char *bin, const char *func, const char *src)
{
        return field_set_text(field, NAME_BIN, bin) && field_set_text(field, NAME_FUNC, func) &&
               field_set_text(field, NAME_SRC, src);
}

static bool place_is_same(const void *places, uint32_t number, const void *key)
{
        const NamePlace *one = (const NamePlace *)places + number, *other = key;

        return one->ip == other->ip && one->query.address == other->query.address &&
               one->query.pid == other->query.pid && one->query.pid_ns == other->query.pid_ns &&
               one->query.has_pid_ns == other->query.has_pid_ns;
}

/* INDEX_NONE: no memory. */
static uint32_t batch_add_place(NamesBatch *batch, const clrsym_query *query, uint64_t ip)
{
        const uint64_t hash =
                hash_number(hash_number(query->address, query->pid_ns), (uint32_t)query->pid);
        const NamePlace place = {.query = *query, .ip = ip, .last = query->time};
        uint32_t number = hash_index_find(&batch->by_address, hash, place_is_same,
                                          batch->places->data, &place);
        NamePlace *known;

        if (number == INDEX_NONE) {
                number = batch->places->len;
                g_array_append_val(batch->places, place);
                return hash_index_add(&batch->by_address, hash, number) ? number : INDEX_NONE;
        }
        known = batch_place(batch, number);
        known->query.time = MIN(known->query.time, query->time);
        known->last = MAX(known->last, query->time);
        return number;
}

bool names_batch_add(NamesBatch *batch, bt_field *field, const NameQuestion *question)
{
        NameSlot slot = {.field = field,
                         .ip = question->ip,
                         .place = INDEX_NONE,
                         .has_callee = question->has_callee};

        if (!question->query) {
                if (!field_set_name(field, NULL, NULL, NULL))
                        return false;
        } else {
                slot.time = question->query->time;
                slot.place = batch_add_place(batch, question->query, question->ip);
                if (slot.place == INDEX_NONE)
                        return false;
        }
        g_array_append_val(batch->slots, slot);
        return true;
}

bool names_batch_is_full(const NamesBatch *batch)
{
        return batch->slots->len >= MAX_SLOTS;
}

static const char *path_name(const char *path)
{
        const char *slash = strrchr(path, '/');

        return slash ? slash + 1 : path;
}

static const clrsym_line *batch_line(NamesBatch *batch, clrsym_answer *answer, int32_t pid,
                                     clrsym_line *ret)
{
        if (!batch->lines)
                return NULL;
        pid = batch->settings->trace ? 0 : pid;
        clrsym_lines_set_process(batch->lines, pid);
        clrsym_lines_name_types(batch->lines, pid, &answer->body);
        return clrsym_lines_find(batch->lines, pid, answer, ret) == CLRSYM_LINE_FOUND ? ret : NULL;
}

static bool answer_has_name(const clrsym_answer *answer)
{
        return answer->status == CLRSYM_OK && answer->has_body;
}

/* True if one answer is right for all times from ONE's to OTHER's. */
static bool answers_are_one(const clrsym_answer *one, const clrsym_answer *other)
{
        if (one->status != other->status)
                return false;
        if (answer_has_name(one) && answer_has_name(other))
                return one->confidence == other->confidence && verdict_is_same_body(one, other);
        return one->status == CLRSYM_NO_METHOD || one->status == CLRSYM_NO_PROCESS;
}

/* Makes the texts of PLACE: the name in ANSWER at the ip of SLOT. */
static bool batch_make_texts(NamesBatch *batch, NamePlace *place, const NameSlot *slot,
                             clrsym_answer *answer)
{
        const bool is_marked = verdict_marks(answer);
        clrsym_line found;
        const clrsym_line *line = batch_line(batch, answer, place->query.pid, &found);
        const uint32_t number =
                frames_body(&batch->frames, answer, /* image= */ NULL, is_marked, line);
        NamedFrame frame;

        if (number == INDEX_NONE)
                return false;
        frame = frames_get(&batch->frames, number);
        place->bin = batch->settings->is_full_path ? answer->body.module_path : frame.module;
        place->func = g_strdup_printf("%s+0x%" G_GINT64_MODIFIER "x%s", frame.name,
                                      slot->ip - answer->body.start, is_marked ? MARK : "");
        if (frame.file)
                place->src = g_strdup_printf("%s:%" G_GUINT32_FORMAT,
                                             batch->settings->is_full_path ? frame.file
                                                                           : path_name(frame.file),
                                             frame.line);
        return true;
}

static void place_clear_texts(NamePlace *place)
{
        g_clear_pointer(&place->func, g_free);
        g_clear_pointer(&place->src, g_free);
        place->bin = NULL;
}

/* True if ANSWER's code is of the callee's method. */
static bool batch_is_callee(const NamesBatch *batch, const clrsym_answer *answer)
{
        const clrsym_body *callee = &batch->callee, *body = &answer->body;

        return answer_has_name(answer) && callee->method_id == body->method_id &&
               callee->module_id == body->module_id && callee->token == body->token;
}

/*
 * True if the address is not a caller: OSR has replaced the callee, and its chain has an address of
 * the same method (.NET 8 to 10) or the begin of its code (.NET 11).
 */
static bool batch_is_false_caller(const NamesBatch *batch, const NameSlot *slot,
                                  const clrsym_answer *answer)
{
        return OSR_HIDES_CALLERS && slot->has_callee && batch->has_osr_callee &&
               (slot->ip == batch->callee.start || batch_is_callee(batch, answer));
}

static bool batch_fill(NamesBatch *batch, const NameSlot *slot, NamePlace *place,
                       clrsym_answer *answer)
{
        if (batch_is_false_caller(batch, slot, answer)) {
                batch->has_osr_callee = false;
                return field_set_name(slot->field, NULL, OSR_CALLER_UNKNOWN, NULL);
        }
        batch->has_osr_callee =
                answer_has_name(answer) && answer->body.tier == CLRSYM_TIER_OPTIMIZED_TIER1_OSR;
        if (batch->has_osr_callee)
                batch->callee = answer->body;
        if (!answer_has_name(answer))
                return field_set_name(
                        slot->field, NULL,
                        answer->status < G_N_ELEMENTS(REASONS) ? REASONS[answer->status] : NULL,
                        NULL);
        if (place->is_mixed)
                place_clear_texts(place);
        if (!place->func && !batch_make_texts(batch, place, slot, answer))
                return false;
        return field_set_name(slot->field, place->bin, place->func, place->src);
}

/* Continues without names, and retries after a pause. */
static void batch_fail(NamesBatch *batch)
{
        batch->next_try = g_get_monotonic_time() + FAILURE_PAUSE;
        if (!batch->is_failing)
                fprintf(stderr, "clrsym: filter.clrsym.names: events have no names: %s\n",
                        clrsym_message(batch->handle));
        batch->is_failing = true;
}

static bool answer_is_late(const clrsym_answer *answer)
{
        return answer->status == CLRSYM_PENDING || answer->status == CLRSYM_NO_PROCESS ||
               answer->confidence == CLRSYM_PROVISIONAL;
}

static bool batch_reserve(NamesBatch *batch)
{
        clrsym_answer *answers;

        if (batch->queries->len <= batch->n_answers)
                return true;
        answers = realloc(batch->answers, batch->queries->len * sizeof(*answers));
        if (!answers)
                return false;
        batch->answers = answers;
        batch->n_answers = batch->queries->len;
        return true;
}

/* Answers the queries. False: no answers. */
static bool batch_ask(NamesBatch *batch)
{
        const size_t n = batch->queries->len;
        const gint64 begin = g_get_monotonic_time();
        const unsigned wait_ms = begin < batch->next_wait ? 0 : batch->settings->wait_ms;
        size_t i;

        if (!n || begin < batch->next_try)
                return false;
        if (clrsym_resolve(batch->handle, (const clrsym_query *)(void *)batch->queries->data, n,
                           wait_ms, batch->answers) < 0) {
                batch_fail(batch);
                return false;
        }
        batch->is_failing = false;
        for (i = 0; wait_ms && i < n; i++)
                if (answer_is_late(&batch->answers[i]))
                        batch->next_wait = g_get_monotonic_time() +
                                           WAIT_PAUSE * (gint64)wait_ms * G_TIME_SPAN_MILLISECOND;
        return true;
}

static void batch_add_query(NamesBatch *batch, const NamePlace *place, uint64_t time)
{
        clrsym_query query = place->query;

        query.time = time;
        g_array_append_val(batch->queries, query);
}

/* Queries the first and the last time of each place. */
static void batch_query_ends(NamesBatch *batch)
{
        guint i;

        for (i = 0; i < batch->places->len; i++) {
                NamePlace *place = batch_place(batch, i);

                place->answer = batch->queries->len;
                batch_add_query(batch, place, place->query.time);
                if (place->last != place->query.time)
                        batch_add_query(batch, place, place->last);
        }
}

/* True if some places are mixed, so their answers depend on the time. */
static bool batch_find_mixed(NamesBatch *batch)
{
        bool has_mixed = false;
        guint i;

        for (i = 0; i < batch->places->len; i++) {
                NamePlace *place = batch_place(batch, i);
                const clrsym_answer *answer = &batch->answers[place->answer];

                place->is_mixed =
                        place->last != place->query.time && !answers_are_one(answer, answer + 1);
                has_mixed |= place->is_mixed;
        }
        return has_mixed;
}

/* Replaces the queries: one for each other place, one for each slot of mixed places. */
static void batch_query_all(NamesBatch *batch)
{
        guint i;

        g_array_set_size(batch->queries, 0);
        for (i = 0; i < batch->places->len; i++) {
                NamePlace *place = batch_place(batch, i);

                place->answer = batch->queries->len;
                if (!place->is_mixed)
                        batch_add_query(batch, place, place->query.time);
        }
        for (i = 0; i < batch->slots->len; i++) {
                NameSlot *slot = &g_array_index(batch->slots, NameSlot, i);
                const NamePlace *place =
                        slot->place == INDEX_NONE ? NULL : batch_place(batch, slot->place);

                if (!place || !place->is_mixed)
                        continue;
                batch_add_query(batch, place, slot->time);
                slot->time = batch->queries->len - 1;
        }
}

/* False: no answers; or, with RET_OK false, no memory. */
static bool batch_find_answers(NamesBatch *batch, bool *ret_ok)
{
        batch_query_ends(batch);
        *ret_ok = batch_reserve(batch);
        if (!*ret_ok || !batch_ask(batch))
                return false;
        if (!batch_find_mixed(batch))
                return true;
        batch_query_all(batch);
        *ret_ok = batch_reserve(batch);
        return *ret_ok && batch_ask(batch);
}

bool names_batch_run(NamesBatch *batch)
{
        bool ok, has_answers = batch_find_answers(batch, &ok);
        guint i;

        for (i = 0; ok && i < batch->slots->len; i++) {
                const NameSlot *slot = &g_array_index(batch->slots, NameSlot, i);
                NamePlace *place =
                        slot->place == INDEX_NONE ? NULL : batch_place(batch, slot->place);

                if (!place)
                        batch->has_osr_callee = false;
                else if (!has_answers)
                        ok = field_set_name(slot->field, NULL, "[no answer]", NULL);
                else
                        ok = batch_fill(
                                batch, slot, place,
                                &batch->answers[place->is_mixed ? slot->time : place->answer]);
        }
        names_batch_clear(batch);
        if (frames_is_full(&batch->frames))
                frames_clear(&batch->frames);
        return ok;
}

void names_batch_clear(NamesBatch *batch)
{
        guint i;

        for (i = 0; i < batch->places->len; i++)
                place_clear_texts(batch_place(batch, i));
        g_array_set_size(batch->slots, 0);
        g_array_set_size(batch->places, 0);
        g_array_set_size(batch->queries, 0);
        hash_index_clear(&batch->by_address);
}
