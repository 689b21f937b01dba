/* SPDX-License-Identifier: MIT */
#include "support/feeding.h"

#include "event/method-flags.h"
#include "query/query.h"
#include "tracker/checkpoint.h"
#include "wire/ingest.h"

#include <string.h>

enum { N_STREAMS = 4, N_PIDS = 3, N_BODIES = 40 };

typedef struct FeedBody {
        uint64_t id, start;
        uint32_t size, name;
        bool is_living;
} FeedBody;

typedef struct FeedStream {
        int feeder;      /* the feeder that has it open; -1: none */
        uint32_t number; /* number of the stream at that feeder */
} FeedStream;

typedef struct Feeding {
        GRand *rand;
        GPtrArray *steps; /* owned */
        uint64_t time;
        FeedStream streams[N_STREAMS];
        FeedBody bodies[N_PIDS][N_BODIES];
        uint32_t n_names;
        unsigned n_feeders;
        unsigned n_opened; /* streams opened by the newest feeder */
        GArray *free;      /* owned: its numbers (uint32_t) of closed streams */
} Feeding;

static void new_feeder(Feeding *feeding)
{
        feeding->n_feeders++;
        feeding->n_opened = 0;
        g_array_set_size(feeding->free, 0);
}

static uint32_t next_number(Feeding *feeding)
{
        uint32_t number;

        if (feeding->free->len == 0)
                return feeding->n_opened++;
        number = g_array_index(feeding->free, uint32_t, feeding->free->len - 1);
        g_array_set_size(feeding->free, feeding->free->len - 1);
        return number;
}

static uint64_t below(Feeding *feeding, uint64_t n)
{
        return g_rand_int(feeding->rand) % n;
}

static void step_free(gpointer data)
{
        FeedStep *step = data;

        g_byte_array_unref(step->frames);
        g_free(step);
}

static GByteArray *step_new(Feeding *feeding, FeedStepKind kind, unsigned feeder)
{
        FeedStep *step = g_new(FeedStep, 1);

        *step = (FeedStep){kind, feeder, g_byte_array_new()};
        g_ptr_array_add(feeding->steps, step);
        return step->frames;
}

static void open_stream(Feeding *feeding, unsigned s)
{
        StreamIdentity *identity = stream_identity_new();
        FeedStream *stream = &feeding->streams[s];

        /* Sometimes change the feeder, because each feeder numbers its own streams. */
        if (!feeding->n_feeders || below(feeding, 2))
                new_feeder(feeding);
        *stream = (FeedStream){(int)feeding->n_feeders - 1, next_number(feeding)};
        identity->trace_uuid[0] = (uint8_t)(1 + s / 3);
        identity->stream_id = s;
        identity->scheme = s / 3 ? BUFFER_SCHEME_PER_PID : BUFFER_SCHEME_PER_UID;
        g_string_assign(identity->hostname, "host");
        g_string_assign(identity->boot_id, "this boot");
        ingest_put_stream_open(step_new(feeding, FEED_OPEN, (unsigned)stream->feeder),
                               stream->number, identity);
        stream_identity_free(identity);
}

static void leave(Feeding *feeding, int feeder)
{
        unsigned s;

        step_new(feeding, FEED_GONE, (unsigned)feeder);
        for (s = 0; s < N_STREAMS; s++)
                if (feeding->streams[s].feeder == feeder)
                        feeding->streams[s].feeder = -1;
        if (feeder + 1 == (int)feeding->n_feeders)
                new_feeder(feeding);
}

static void set(Record *record, FieldName name, uint64_t u)
{
        int i = event_field(record->event, name);

        if (i >= 0)
                record->values[i].u = u;
}

static void set_text(Record *record, FieldName name, const char *text)
{
        int i = event_field(record->event, name);

        if (i >= 0)
                record->values[i] =
                        (Value){.data = (const uint8_t *)text, .n = (uint32_t)strlen(text)};
}

static void put(Feeding *feeding, GByteArray *frames, uint32_t stream, unsigned p,
                const char *event, const FeedBody *body)
{
        static const uint32_t OFFSETS[] = {0, 4, 9, 300, 17};
        static const uint8_t NOTHING[16]; /* also of GUIDs */
        Record record = {.event = event_by_name(event),
                         .time = feeding->time += below(feeding, 4),
                         .process = {0, 100 + (int32_t)p},
                         .tid = (int32_t)below(feeding, 3)};
        uint32_t n = 1 + (uint32_t)below(feeding, G_N_ELEMENTS(OFFSETS));
        char name[24], path[24];
        unsigned i;

        for (i = 0; i < record.event->n_fields; i++)
                record.values[i].data = NOTHING;
        set(&record, FIELD_ModuleID, below(feeding, 4));
        if (body) {
                g_snprintf(name, sizeof(name), "M%u", body->name);
                set(&record, FIELD_MethodID, body->id);
                set(&record, FIELD_MethodStartAddress, body->start);
                set(&record, FIELD_EntryPoint, body->start);
                set(&record, FIELD_MethodSize, body->size);
                set(&record, FIELD_MethodFlags, METHOD_FLAG_JITTED);
                set_text(&record, FIELD_MethodNamespace, "N.T");
                set_text(&record, FIELD_MethodName, name);
        }
        g_snprintf(path, sizeof(path), "/%u.dll", (unsigned)below(feeding, 3));
        set_text(&record, FIELD_ModuleILPath, path);
        set_text(&record, FIELD_CommandLine, "app");
        set_text(&record, FIELD_FailReason, path);
        set(&record, FIELD_CountOfMapEntries, n);
        for (i = 0; i < record.event->n_fields; i++)
                if (record.event->fields[i].type == FIELD_TYPE_U32_ARRAY ||
                    record.event->fields[i].type == FIELD_TYPE_IL_OFFSETS)
                        record.values[i] = (Value){.data = (const uint8_t *)OFFSETS, .n = n};
        ingest_put_record(frames, stream, &record);
}

#define RUNTIME "DotNETRuntime:"
#define RUNDOWN "DotNETRuntimeRundown:"

/* Events without a body, and their weights. */
static const struct {
        const char *event;
        unsigned chance;
} OTHERS[] = {
        {RUNTIME "RuntimeInformationStart", 2},
        {RUNTIME "AppDomainUnload_V1", 1},
        {RUNTIME "ModuleLoad_V2", 4},
        {RUNTIME "ModuleUnload_V2", 2},
        {RUNDOWN "DCEndInit_V1", 2},
        {RUNDOWN "DCEndComplete_V1", 2},
        {RUNTIME "MethodJitInliningSucceeded", 2},
        {RUNTIME "MethodJitInliningFailed", 2},
        {RUNTIME "TieredCompilationBackgroundJitStart", 1},
};

static void put_other(Feeding *feeding, GByteArray *frames, uint32_t stream, unsigned p)
{
        unsigned i = (unsigned)below(feeding, G_N_ELEMENTS(OTHERS));

        if (below(feeding, 6) < OTHERS[i].chance && event_by_name(OTHERS[i].event))
                put(feeding, frames, stream, p, OTHERS[i].event, NULL);
}

static void put_about_body(Feeding *feeding, GByteArray *frames, uint32_t stream, unsigned p)
{
        FeedBody *body = &feeding->bodies[p][below(feeding, N_BODIES)];

        switch (below(feeding, 10)) {
        case 0:
                put(feeding, frames, stream, p, RUNDOWN "MethodDCEndILToNativeMap_V1", body);
                put(feeding, frames, stream, p, RUNDOWN "MethodDCEndVerbose_V2", body);
                return;
        case 1:
                put(feeding, frames, stream, p, RUNTIME "MethodJittingStarted_V1", body);
                return;
        case 2:
                put(feeding, frames, stream, p, RUNTIME "MethodILToNativeMap_V1", body);
                return;
        case 3:
                put(feeding, frames, stream, p, RUNTIME "R2RGetEntryPoint", body);
                return;
        default:
                break;
        }
        if (body->is_living) {
                put(feeding, frames, stream, p, RUNTIME "MethodUnloadVerbose_V2", body);
                body->is_living = false;
                return;
        }
        *body = (FeedBody){.id = 1 + below(feeding, 100),
                           .start = 0x7f0000000000 + below(feeding, 1 << 14),
                           .size = 1 + (uint32_t)below(feeding, 300),
                           .name = ++feeding->n_names,
                           .is_living = true};
        put(feeding, frames, stream, p, RUNTIME "MethodLoadVerbose_V2", body);
}

static void put_batch(Feeding *feeding, unsigned s)
{
        const FeedStream stream = feeding->streams[s];
        GByteArray *frames = step_new(feeding, FEED_BATCH, (unsigned)stream.feeder);
        unsigned n = 1 + (unsigned)below(feeding, 20), p;

        if (!below(feeding, 40))
                feeding->time += 2000000000;
        while (n--) {
                p = (unsigned)below(feeding, N_PIDS);
                if (below(feeding, 5))
                        put_about_body(feeding, frames, stream.number, p);
                else
                        put_other(feeding, frames, stream.number, p);
        }
        if (!below(feeding, 15))
                ingest_put_gap(frames, stream.number,
                               &(StreamGap){(GapKind)below(feeding, _GAP_KIND_MAX),
                                            feeding->time - below(feeding, 9), feeding->time, 3});
        if (!below(feeding, 8)) {
                uint64_t begin = feeding->time - below(feeding, 40),
                         end = begin + below(feeding, 30);

                ingest_put_process_gap(frames,
                                       &(ProcessGap){{0, 100 + (int32_t)below(feeding, N_PIDS)},
                                                     begin,
                                                     below(feeding, 3) ? end : UINT64_MAX});
        }
        if (!below(feeding, 6))
                ingest_put_progress(frames, INGEST_ALL_STREAMS, feeding->time);
        if (below(feeding, 2) || !frames->len)
                ingest_put_progress(frames, stream.number, feeding->time);
        if (!below(feeding, 20)) {
                ingest_put_stream_close(frames, stream.number);
                if (stream.feeder + 1 == (int)feeding->n_feeders)
                        g_array_append_val(feeding->free, stream.number);
                feeding->streams[s].feeder = -1;
        }
}

GPtrArray *feeding_new(guint32 seed, unsigned n_steps)
{
        Feeding feeding = {.rand = g_rand_new_with_seed(seed),
                           .steps = g_ptr_array_new_with_free_func(step_free),
                           .time = 1000,
                           .free = g_array_new(FALSE, FALSE, sizeof(uint32_t))};
        unsigned s;

        for (s = 0; s < N_STREAMS; s++)
                feeding.streams[s].feeder = -1;
        while (feeding.steps->len < n_steps) {
                s = (unsigned)below(&feeding, N_STREAMS);
                if (feeding.streams[s].feeder < 0)
                        open_stream(&feeding, s);
                else if (!below(&feeding, 25))
                        leave(&feeding, feeding.streams[s].feeder);
                else
                        put_batch(&feeding, s);
        }
        g_rand_free(feeding.rand);
        g_array_unref(feeding.free);
        return feeding.steps;
}

void fed_init(Fed *fed, Tracker *tracker)
{
        *fed = (Fed){.tracker = tracker,
                     .sessions = g_ptr_array_new(),
                     .connections = g_ptr_array_new()};
}

static IngestConnection *session_of(Fed *fed, unsigned feeder)
{
        g_autoptr(GByteArray) hello = NULL;
        IngestConnection *session;

        while (fed->sessions->len <= feeder) {
                g_ptr_array_add(fed->sessions, NULL);
                g_ptr_array_add(fed->connections, NULL);
        }
        if (fed->sessions->pdata[feeder])
                return fed->sessions->pdata[feeder];
        session = ingest_connection_new(fed->tracker, false);
        fed->sessions->pdata[feeder] = session;
        if (fed->come)
                fed->connections->pdata[feeder] = fed->come(fed->data, session);
        hello = g_byte_array_new();
        ingest_put_hello(hello, INGEST_VERSION, "test");
        ingest_connection_feed(session, hello->data, hello->len);
        return session;
}

static void go(Fed *fed, unsigned feeder)
{
        if (feeder >= fed->sessions->len || !fed->sessions->pdata[feeder])
                return;
        if (fed->go)
                fed->go(fed->connections->pdata[feeder]);
        ingest_connection_free(fed->sessions->pdata[feeder]);
        fed->sessions->pdata[feeder] = NULL;
}

void fed_take(Fed *fed, const FeedStep *step)
{
        g_autoptr(GByteArray) commit = g_byte_array_new();
        IngestConnection *session;

        if (step->kind == FEED_GONE) {
                go(fed, step->feeder);
                return;
        }
        session = session_of(fed, step->feeder);
        ingest_connection_feed(session, step->frames->data, step->frames->len);
        if (step->kind == FEED_BATCH) {
                ingest_put_empty(commit, INGEST_COMMIT);
                ingest_connection_feed(session, commit->data, commit->len);
        }
        g_assert(!ingest_connection_error(session));
        g_byte_array_set_size(ingest_connection_output(session), 0);
}

void fed_deinit(Fed *fed)
{
        unsigned i;

        for (i = 0; i < fed->sessions->len; i++)
                go(fed, i);
        g_ptr_array_unref(fed->sessions);
        g_ptr_array_unref(fed->connections);
}

static bool append(void *data, const uint8_t *bytes, size_t n)
{
        g_byte_array_append(data, bytes, (guint)n);
        return true;
}

GByteArray *tracker_image(const Tracker *tracker)
{
        GByteArray *image = g_byte_array_new();

        g_assert(checkpoint_write(tracker, append, image));
        return image;
}

char *tracker_bodies(const Tracker *tracker)
{
        static const char CALL[] =
                "{\"method\":\"org.clrsym.Symbolizer.ListMethods\",\"parameters\":{\"all\":true}}";
        const QueryContext context = {
                .tracker = tracker, .is_final = true, .viewer = {.sees_all = true}};
        QueryProgress progress = {0};
        GString *text = g_string_new(NULL);

        query_call(&context, CALL, strlen(CALL), &progress, text);
        return g_string_free(text, FALSE);
}
