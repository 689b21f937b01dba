/* SPDX-License-Identifier: MIT */
#include "support/world.h"

#include "event/method-flags.h"
#include "tracker/checkpoint.h"

#include <stdlib.h>
#include <string.h>

const unsigned STREAM_NAME[N_STREAMS] = {0, 1, 10};

bool world_chance(World *w, unsigned percent)
{
        return w->draw(w->draw_data, 100) % 100 < percent;
}

uint64_t world_below(World *w, uint64_t n)
{
        return w->draw(w->draw_data, n) % n;
}

void world_open_stream(World *w, unsigned s)
{
        StreamIdentity *identity = stream_identity_new();

        identity->trace_uuid[0] = (uint8_t)(1 + STREAM_TRACE[s]);
        identity->stream_id = s;
        w->streams[s] = tracker_stream_open(w->tracker, identity);
        stream_identity_free(identity);
}

void world_log(World *w, const char *format, ...)
{
        va_list arguments;

        if (!w->log)
                return;
        va_start(arguments, format);
        g_string_append_vprintf(w->log, format, arguments);
        va_end(arguments);
}

static void G_GNUC_PRINTF(2, 3) world_differ(World *w, const char *format, ...)
{
        va_list arguments;

        if (w->failure)
                return;
        va_start(arguments, format);
        w->failure = g_strdup_vprintf(format, arguments);
        va_end(arguments);
}

static bool take_piece(void *data, const uint8_t *bytes, size_t n)
{
        GPtrArray *pieces = data;

        g_ptr_array_add(pieces, g_bytes_new(bytes, n));
        return true;
}

static GPtrArray *image_of(const Tracker *tracker)
{
        GPtrArray *pieces = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);

        checkpoint_write(tracker, take_piece, pieces);
        return pieces;
}

/* Makes a tracker from an image; NULL: refused. */
static Tracker *tracker_of(const GPtrArray *pieces, size_t budget)
{
        Tracker *tracker = tracker_new();
        CheckpointReader *reader = checkpoint_reader_new(tracker);
        guint i;

        tracker_set_budget(tracker, budget);
        for (i = 0; i < pieces->len; i++) {
                gsize n;
                const uint8_t *bytes = g_bytes_get_data(pieces->pdata[i], &n);

                checkpoint_reader_take(reader, bytes, n);
        }
        if (checkpoint_reader_finish(reader))
                return tracker;
        tracker_free(tracker);
        return NULL;
}

static bool are_equal(const GPtrArray *a, const GPtrArray *b)
{
        guint i;

        for (i = 0; i < a->len && i < b->len; i++)
                if (!g_bytes_equal(a->pdata[i], b->pdata[i]))
                        return false;
        return a->len == b->len;
}

void world_restart(World *w)
{
        g_autoptr(GPtrArray) image = NULL, again = NULL;
        const GPtrArray *before = tracker_processes(w->tracker), *after;
        Tracker *tracker;
        unsigned s;
        guint i, k;

        /* Images do not contain batches in progress. */
        world_log(w, "commit\n# restart\n");
        tracker_commit(w->tracker);
        w->batch++;
        image = image_of(w->tracker);
        tracker = tracker_of(image, w->mix->budget);
        if (!tracker) {
                world_differ(w, "the image is refused");
                return;
        }
        again = image_of(tracker);
        if (!are_equal(image, again))
                world_differ(w, "the tracker made from an image has another one");
        after = tracker_processes(tracker);
        for (i = 0; i < w->lives->len; i++) {
                Naive *naive = w->lives->pdata[i];

                if (g_ptr_array_find((GPtrArray *)before, naive->real, &k))
                        naive->real = after->pdata[k];
        }
        for (s = 0; s < N_STREAMS; s++)
                w->streams[s] = tracker_stream_by_number(
                        tracker, tracker_stream_number(w->tracker, w->streams[s]));
        tracker_free(w->tracker);
        w->tracker = tracker;
}

static uint32_t body_number(const Process *process, const Body *body)
{
        return (uint32_t)atoi(strtab_text(process->names, body->name) + 1);
}

static bool is_same_body(const Process *process, const Body *got, const NaiveBody *body)
{
        if (!got || !body)
                return !got && !body;
        return body_number(process, got) == body->name && got->start == body->start &&
               got->size == body->size && got->since == body->since && got->until == body->until &&
               got->source == body->source && got->end == body->end;
}

static char *show_body(uint32_t name, uint64_t since, uint64_t until, int end)
{
        return g_strdup_printf("M%u [%" G_GUINT64_FORMAT ", %" G_GUINT64_FORMAT ") end %d", name,
                               since, until, end);
}

void world_ask(World *w, const Question *question)
{
        Expected e;
        Answer answer;
        const Body *got;
        bool has_confidence, is_equal;

        if (w->failure)
                return;
        naive_expect(w, question, &e);
        answer_question(w->tracker, &(Viewer){.sees_all = true}, question, &answer);
        got = answer.body ? answer.body : answer.nearest;
        has_confidence = e.status != ANSWER_AMBIGUOUS && e.status != ANSWER_EVICTED;
        is_equal = answer.status == e.status &&
                   (!has_confidence ||
                    (answer.confidence == e.confidence && answer.distance == e.distance));
        if (is_equal && e.status != ANSWER_EVICTED)
                is_equal = is_same_body(answer.process, got, e.body) &&
                           answer.process == (e.naive ? e.naive->real : NULL);
        if (is_equal && answer.bodies)
                is_equal = answer.n_bodies == e.n_bodies;
        w->n_answers[e.status]++;
        if (!is_equal) {
                g_autofree char *a =
                        e.body ? show_body(e.body->name, e.body->since, e.body->until, e.body->end)
                               : NULL;
                g_autofree char *b = got ? show_body(body_number(answer.process, got), got->since,
                                                     got->until, got->end)
                                         : NULL;

                world_differ(w,
                             "? pid=%d (ns %" G_GUINT64_FORMAT ") 0x%" G_GINT64_MODIFIER
                             "x %" G_GUINT64_FORMAT "%s: expected %s %s %s, got %s %s %s",
                             question->pid, question->pid_ns, question->address, question->time,
                             question->has_time ? "" : " (no time)", answer_status_name(e.status),
                             a, confidence_name(e.confidence), answer_status_name(answer.status), b,
                             confidence_name(answer.confidence));
        }
        answer_clear(&answer);
}

/* Identifies a body in the real list, whatever the present record has changed. */
static gpointer body_key(uint32_t name, uint64_t seen)
{
        return GSIZE_TO_POINTER((gsize)name << 40 | seen);
}

static guint count_of(GHashTable *counts, gpointer key)
{
        return GPOINTER_TO_UINT(g_hash_table_lookup(counts, key));
}

/* Observes which bodies were evicted: only dead ones are allowed. */
static void observe_forgetting(World *w, Naive *naive)
{
        g_autoptr(GHashTable) there = g_hash_table_new(g_direct_hash, g_direct_equal);
        const CodeMap *map = naive->real->map;
        uint64_t whole_since = codemap_whole_since(map);
        unsigned pass;
        uint32_t i;

        for (i = 0; i < codemap_n_numbers(map); i++) {
                const Body *body = codemap_body(map, i);
                gpointer key;

                if (!body)
                        continue;
                key = body_key(body_number(naive->real, body), body_seen(body));
                g_hash_table_insert(there, key, GUINT_TO_POINTER(count_of(there, key) + 1));
        }
        /* Of two equal bodies, the one that must exist exists. */
        for (pass = 0; pass < 2; pass++)
                for (i = naive->bodies->len; i-- > 0;) {
                        const NaiveBody *body = BODY(naive, i);
                        bool must_be = body->until > whole_since;
                        gpointer key = body_key(body->name, body->seen);
                        guint n = count_of(there, key);

                        if (must_be != (pass == 0))
                                continue;
                        if (n)
                                g_hash_table_insert(there, key, GUINT_TO_POINTER(n - 1));
                        else if (must_be)
                                world_differ(w, "M%u is forgotten", body->name);
                        else
                                g_ptr_array_remove_index(naive->bodies, i);
                }
}

static void observe_budget(World *w)
{
        const Budget *budget = tracker_budget(w->tracker);
        const GPtrArray *all = tracker_processes(w->tracker);
        guint i;

        if (!budget->limit)
                return;
        if (budget->account->n_bytes > budget->limit)
                world_differ(w, "%zu bytes of %zu", budget->account->n_bytes, budget->limit);
        if (budget->n_processes != w->n_dropped) {
                w->n_dropped = budget->n_processes;
                for (i = 0; i < w->lives->len; i++) {
                        Naive *naive = w->lives->pdata[i];

                        if (naive->is_dropped ||
                            g_ptr_array_find((GPtrArray *)all, naive->real, NULL))
                                continue;
                        naive->is_dropped = true;
                        if (naive_newest_life(w, naive->key) && naive->exit == BODY_FOREVER &&
                            naive_newest_life(w, naive->key)->generation < naive->generation)
                                world_differ(w, "a process that was not over has gone");
                }
        }
        if (budget->n_bodies != w->n_forgotten) {
                w->n_forgotten = budget->n_bodies;
                for (i = 0; i < w->lives->len; i++)
                        if (!((Naive *)w->lives->pdata[i])->is_dropped)
                                observe_forgetting(w, w->lives->pdata[i]);
        }
}

/* Events sent while the stream's feeder was away are lost. */
void world_resume(World *w, unsigned s, uint64_t time)
{
        NaiveStream *stream = &w->naive_streams[s];
        Span gap = {stream->progress, time - 1, STREAM_TRACE[s]};

        if (stream->is_away && time > stream->progress)
                g_array_append_val(w->gaps, gap);
        stream->is_away = false;
}

/* The generation that an event belongs to. */
static Naive *naive_life(World *w, unsigned s, const Record *record)
{
        Naive *naive = naive_newest_life(w, record->process), *older;
        bool is_start = record->event->kind == EVENT_KIND_RUNTIME_START, is_again, is_later;

        is_again = naive && naive->is_from_start && !naive->has_trace[STREAM_TRACE[s]] &&
                   record->time - naive->begin < SECOND;
        is_later = naive && naive->exit != BODY_FOREVER && record->time > naive->exit + SECOND;
        if (!naive || (record->time >= naive->begin && (is_later || (is_start && !is_again))))
                naive = naive_new(w, record->process, naive ? naive->generation + 1 : 1,
                                  record->time);
        older = naive_life_at(w, record->process, record->time);
        if (!older->is_dropped)
                naive = older;
        naive->begin = MIN(naive->begin, record->time);
        naive->has_trace[STREAM_TRACE[s]] = true;
        return naive;
}

static void put(Record *record, FieldName name, uint64_t u)
{
        int i = event_field(record->event, name);

        if (i >= 0)
                record->values[i].u = u;
}

static void put_text(Record *record, FieldName name, const char *text)
{
        Value *value = &record->values[event_field(record->event, name)];

        value->data = (const uint8_t *)text;
        value->n = (uint32_t)strlen(text);
}

/*
 * Applies a record about BODY, MODULE or neither to the tracker, and to the naive model unless the
 * stream has had it.
 */
void world_emit(World *w, unsigned s, const char *event, unsigned k, const NaiveBody *body,
                uint64_t module, unsigned path, uint64_t time)
{
        NaiveStream *stream = &w->naive_streams[s];
        Record record = {.event = event_by_name(event), .time = time, .process = KEYS[k], .tid = 1};
        uint64_t n_refused = tracker_stats(w->tracker)->refused;
        char name[16] = "", file[16] = "";
        EventKind kind;
        Naive *naive;
        unsigned i;

        if (w->failure)
                return;
        kind = record.event->kind;
        for (i = 0; i < record.event->n_fields; i++)
                record.values[i].data = (const uint8_t *)"";
        world_log(w, "%u: %" G_GUINT64_FORMAT " %s pid=%d pid_ns=%u", STREAM_NAME[s], time, event,
                  KEYS[k].pid, (unsigned)KEYS[k].pid_ns);
        if (body) {
                g_snprintf(name, sizeof(name), "M%u", body->name);
                put(&record, FIELD_MethodID, body->id);
                put(&record, FIELD_MethodStartAddress, body->start);
                put(&record, FIELD_EntryPoint, body->start);
                put(&record, FIELD_MethodSize, body->size);
                put(&record, FIELD_MethodFlags, body->is_jitted ? METHOD_FLAG_JITTED : 0);
                put_text(&record, FIELD_MethodName, name);
                world_log(w, " id=%u name=%s %s=0x%" G_GINT64_MODIFIER "x", body->id, name,
                          kind == EVENT_KIND_R2R_ENTRY ? "entry" : "start", body->start);
                if (kind != EVENT_KIND_R2R_ENTRY)
                        world_log(w, " size=%u flags=%u", body->size,
                                  body->is_jitted ? METHOD_FLAG_JITTED : 0);
        }
        if (module && kind != EVENT_KIND_R2R_ENTRY) {
                put(&record, FIELD_ModuleID, module);
                world_log(w, " module=%u", (unsigned)module);
        }
        if (path) {
                g_snprintf(file, sizeof(file), "/%u.dll", path);
                put_text(&record, FIELD_ModuleILPath, file);
                world_log(w, " path=%s", file);
        }
        world_log(w, "\n");

        tracker_apply_record(w->tracker, w->streams[s], &record);
        world_resume(w, s, time);
        if (time < stream->watermark || (time == stream->watermark && stream->batch != w->batch))
                return;
        stream->watermark = time;
        stream->batch = w->batch;
        stream->progress = MAX(stream->progress, time);
        naive = naive_life(w, s, &record);
        if (!naive->real) {
                const GPtrArray *all = tracker_processes(w->tracker);

                naive->real = all->pdata[all->len - 1];
        }
        observe_budget(w);
        if (tracker_stats(w->tracker)->refused != n_refused) {
                w->n_refused++;
                world_log(w, "# refused\n");
                naive_refuse(naive, kind, body, time);
        } else if (kind == EVENT_KIND_METHOD_LOAD) {
                naive_load(naive, body, module, time);
        } else if (kind == EVENT_KIND_METHOD_UNLOAD) {
                naive_unload(naive, body, module, time);
        } else if (kind == EVENT_KIND_METHOD_RUNDOWN) {
                naive_row(naive, body, module, time);
        } else if (kind == EVENT_KIND_R2R_ENTRY) {
                naive_sighting(naive, body, 0, time);
        } else if (kind == EVENT_KIND_MODULE_LOAD) {
                naive_module_load(naive, module, path, time);
        } else if (kind == EVENT_KIND_MODULE_UNLOAD) {
                naive_module_end(naive, naive_module(naive, module, time), time);
        } else if (kind == EVENT_KIND_RUNTIME_START) {
                naive->is_from_start = true;
        } else if (kind == EVENT_KIND_APP_DOMAIN_UNLOAD) {
                naive->exit = time;
        } else if (kind == EVENT_KIND_RUNDOWN_INIT) {
                naive_rundown_begin(naive, time);
        } else if (kind == EVENT_KIND_RUNDOWN_COMPLETE) {
                naive_rundown_end(w, naive, time);
        }
        if (codemap_n_bodies(naive->real->map) != naive->bodies->len)
                world_differ(w, "%u bodies, not %u", codemap_n_bodies(naive->real->map),
                             naive->bodies->len);
}
