/* SPDX-License-Identifier: MIT */
#include "feed/catchup.h"

#include "feed/relay-files.h"
#include "feed/reader.h"
#include "util/scratch.h"

#include <string.h>

/* Streams that the daemon is asked about at a time: a part of those that may be open. */
#define MAX_PROBED (INGEST_MAX_STREAMS / 4)
/* Copied in a round. The live reader may wait for a whole round. */
#define MAX_ROUND_BYTES (16u << 20)
/* s. Earlier sessions of the name that were not written to for longer are not read. */
#define MAX_AGE 3600
/* A file may grow, or its packet be replaced, while it is copied. */
#define MAX_TRIES 4
#define RETRY_MS  200
/* Until there is room, or there are descriptors, again. */
#define LOCAL_RETRY_MS 1000

typedef enum CatchupState {
        CATCHUP_IDLE,
        CATCHUP_PROBING, /* until the daemon has answered for all streams on disk */
        CATCHUP_READING, /* the packets of a round */
        CATCHUP_WAITING, /* to try again */
} CatchupState;

/* A stream in the present round. */
typedef struct Part {
        FeedStream *stream; /* borrowed */
        uint64_t end;       /* of its last packet in the round */
        unsigned n_packets;
        uint64_t n_bytes;
} Part;

struct Catchup {
        Merger *merger;           /* borrowed */
        StreamTable *table;       /* borrowed */
        CatchupSettings settings; /* borrowed */
        const CatchupCalls *calls;
        void *data;
        CatchupState state;
        char *output;   /* owned: of the relay daemon */
        char *excerpt;  /* owned: the directory that is read now, or NULL */
        GArray *parts;  /* of Part */
        Reader *reader; /* owned */
        bool is_attached;
        uint64_t cut;  /* this round has everything before that time; 0: everything on disk */
        uint64_t held; /* number of the last held stream when the round began */
        uint64_t live; /* number of the live reader when the catch-up began */
        unsigned n_tries;
        unsigned n_probed; /* streams that the probe has packets of */
        guint timer;
        CatchupStats stats;
};

static void catchup_on_reader_ended(void *data, Reader *reader, const char *reason);

static const ReaderCalls READER_CALLS = {catchup_on_reader_ended};

Catchup *catchup_new(Merger *merger, StreamTable *table, const CatchupSettings *settings,
                     const CatchupCalls *calls, void *data)
{
        Catchup *catchup = g_new0(Catchup, 1);

        catchup->merger = merger;
        catchup->table = table;
        catchup->settings = *settings;
        catchup->calls = calls;
        catchup->data = data;
        catchup->parts = g_array_new(FALSE, TRUE, sizeof(Part));
        return catchup;
}

static void catchup_end_round(Catchup *catchup)
{
        g_clear_handle_id(&catchup->timer, g_source_remove);
        g_clear_pointer(&catchup->reader, reader_free);
        if (catchup->excerpt)
                scratch_remove_tree(catchup->excerpt);
        g_clear_pointer(&catchup->excerpt, g_free);
        g_array_set_size(catchup->parts, 0);
}

void catchup_cancel(Catchup *catchup)
{
        catchup_end_round(catchup);
        catchup->state = CATCHUP_IDLE;
}

void catchup_free(Catchup *catchup)
{
        if (!catchup)
                return;
        catchup_cancel(catchup);
        g_array_unref(catchup->parts);
        g_free(catchup->output);
        g_free(catchup);
}

bool catchup_is_running(const Catchup *catchup)
{
        return catchup->state != CATCHUP_IDLE;
}

const CatchupStats *catchup_stats(const Catchup *catchup)
{
        return &catchup->stats;
}

/* A RelayWanted. Streams that are fed live, or were to their end, need no packets from disk. */
static bool catchup_wants(void *data, const StreamKey *key)
{
        return !stream_is_complete(stream_table_get(((Catchup *)data)->table, key));
}

/* The first packet to read: the one before the new ones, because its end shows what is lost. */
static unsigned disk_first_needed(const RelayStream *disk, uint64_t position)
{
        unsigned i = 0;

        while (i < disk->packets->len &&
               g_array_index(disk->packets, RelayPacket, i).end <= position)
                i++;
        return i > 0 ? i - 1 : 0;
}

static bool disk_is_ahead(const RelayStream *disk, const FeedStream *stream)
{
        return disk->packets->len > 0 &&
               g_array_index(disk->packets, RelayPacket, disk->packets->len - 1).end >
                       stream_position(stream);
}

/* Packets of a stream that are to be read in a round. */
typedef struct Plan {
        const RelayTrace *trace; /* borrowed */
        FeedStream *stream;      /* borrowed */
        RelaySelection selection;
} Plan;

static const RelayPacket *plan_packet(const Plan *plan, unsigned i)
{
        return &g_array_index(plan->selection.stream->packets, RelayPacket,
                              plan->selection.first + i);
}

/* The next one that could be added, or NULL. */
static const RelayPacket *plan_next(const Plan *plan)
{
        const RelaySelection *selection = &plan->selection;

        return selection->first + selection->n < selection->stream->packets->len
                       ? plan_packet(plan, selection->n)
                       : NULL;
}

static bool plan_is_new(const Plan *plan, const RelayPacket *packet)
{
        return packet->end > stream_position(plan->stream);
}

/*
 * Streams that this daemon was not asked about yet: the last packet of each identifies it. No more
 * than may be asked at a time.
 */
static GArray *plan_probe(Catchup *catchup, const GPtrArray *traces)
{
        GArray *plans = g_array_new(FALSE, TRUE, sizeof(Plan));
        guint i, j;

        for (i = 0; i < traces->len; i++) {
                const RelayTrace *trace = traces->pdata[i];

                for (j = 0; j < trace->streams->len && plans->len < MAX_PROBED; j++) {
                        const RelayStream *disk = trace->streams->pdata[j];
                        Plan plan = {
                                .trace = trace,
                                .stream = stream_table_get(catchup->table, &disk->key),
                                .selection = {disk, disk->packets->len - 1, 1},
                        };

                        if (disk->packets->len > 0 && plan.stream->state == STREAM_UNOPENED)
                                g_array_append_val(plans, plan);
                }
        }
        return plans;
}

/* Adds packets of all streams in order of time, until the round is large enough. */
static void plan_packets(GArray *plans, uint64_t *ret_cut)
{
        uint64_t n_bytes = 0;
        bool has_new = false;

        for (;;) {
                const RelayPacket *first = NULL;
                Plan *chosen = NULL;
                guint i;

                for (i = 0; i < plans->len; i++) {
                        Plan *plan = &g_array_index(plans, Plan, i);
                        const RelayPacket *packet = plan_next(plan);

                        if (packet && (!first || packet->begin < first->begin)) {
                                first = packet;
                                chosen = plan;
                        }
                }
                if (!first)
                        return;
                if (n_bytes > MAX_ROUND_BYTES && has_new) {
                        *ret_cut = first->begin;
                        return;
                }
                n_bytes += first->size;
                has_new = has_new || plan_is_new(chosen, first);
                chosen->selection.n++;
        }
}

/* The new packets of the oldest session that has any. RET_CUT: 0, or where the round ends. */
static GArray *plan_round(Catchup *catchup, const GPtrArray *traces, uint64_t *ret_cut)
{
        GArray *plans = g_array_new(FALSE, TRUE, sizeof(Plan));
        guint i, j;

        *ret_cut = 0;
        for (i = 0; i < traces->len; i++) {
                const RelayTrace *trace = traces->pdata[i];

                if (plans->len && g_array_index(plans, Plan, 0).trace->session != trace->session) {
                        *ret_cut = UINT64_MAX;
                        break;
                }
                for (j = 0; j < trace->streams->len; j++) {
                        const RelayStream *disk = trace->streams->pdata[j];
                        Plan plan = {
                                .trace = trace,
                                .stream = stream_table_get(catchup->table, &disk->key),
                        };

                        if (!disk_is_ahead(disk, plan.stream))
                                continue;
                        plan.selection.stream = disk;
                        plan.selection.first =
                                disk_first_needed(disk, stream_position(plan.stream));
                        g_array_append_val(plans, plan);
                }
        }
        plan_packets(plans, ret_cut);
        /* Drops streams of which no new packet is in the round. */
        for (i = plans->len; i-- > 0;) {
                const Plan *plan = &g_array_index(plans, Plan, i);

                if (plan->selection.n == 0 ||
                    !plan_is_new(plan, plan_packet(plan, plan->selection.n - 1)))
                        g_array_remove_index(plans, i);
        }
        return plans;
}

static bool catchup_start_reader(Catchup *catchup, IntakeMode mode, GError **error)
{
        const ReaderSource source = {
                .mode = mode,
                .source = catchup->excerpt,
                .jit_events = catchup->settings.jit_events,
        };

        catchup->reader = reader_start(catchup->merger, &source, catchup->settings.directory,
                                       &READER_CALLS, catchup, error);
        return catchup->reader != NULL;
}

/* Copies the packets into an excerpt, a directory for each trace. False with ERROR set. */
static bool catchup_copy(Catchup *catchup, const GPtrArray *traces, const GArray *plans,
                         GError **error)
{
        guint i, j;

        catchup->excerpt = g_build_filename(catchup->settings.directory, "excerpt", NULL);
        scratch_remove_tree(catchup->excerpt);
        for (i = 0; i < plans->len; i++) {
                const Plan *plan = &g_array_index(plans, Plan, i);
                Part part = {
                        .stream = plan->stream,
                        .end = plan_packet(plan, plan->selection.n - 1)->end,
                        .n_packets = plan->selection.n,
                };

                for (j = 0; j < plan->selection.n; j++)
                        part.n_bytes += plan_packet(plan, j)->size;
                g_array_append_val(catchup->parts, part);
        }
        for (i = 0; i < traces->len; i++) {
                g_autoptr(GArray) selections = g_array_new(FALSE, TRUE, sizeof(RelaySelection));
                g_autofree char *name = g_strdup_printf("%u", i);
                g_autofree char *path = g_build_filename(catchup->excerpt, name, NULL);

                for (j = 0; j < plans->len; j++) {
                        const Plan *plan = &g_array_index(plans, Plan, j);

                        if (plan->trace == traces->pdata[i])
                                g_array_append_val(selections, plan->selection);
                }
                if (selections->len &&
                    !relay_files_excerpt(traces->pdata[i],
                                         (RelaySelection *)(void *)selections->data,
                                         selections->len, path, error))
                        return false;
        }
        return true;
}

/* What the streams had before is not known any more, unless they were fed. */
static void catchup_forget_pasts(Catchup *catchup)
{
        GHashTableIter iter;
        void *value;

        g_hash_table_iter_init(&iter, catchup->table->streams);
        while (g_hash_table_iter_next(&iter, NULL, &value))
                ((FeedStream *)value)->has_unknown_past = true;
}

/* Ends the catch-up. TRACES: as they are on disk now; REASON: what went wrong, or NULL. */
static void catchup_finish(Catchup *catchup, const GPtrArray *traces, const char *reason)
{
        guint i, j;

        for (i = 0; traces && i < traces->len; i++) {
                const RelayTrace *trace = traces->pdata[i];

                for (j = 0; j < trace->streams->len; j++) {
                        const RelayStream *disk = trace->streams->pdata[j];
                        FeedStream *stream = stream_table_get(catchup->table, &disk->key);

                        if (!stream->identity || disk_is_ahead(disk, stream))
                                continue;
                        if (trace->is_over || stream->ended)
                                merger_close_stream(catchup->merger, stream);
                        else if (catchup->is_attached)
                                stream->caught_up = catchup->live;
                }
        }
        if (reason)
                catchup_forget_pasts(catchup);
        catchup_cancel(catchup);
        catchup->calls->done(catchup->data, catchup->held, reason);
}

static gboolean catchup_on_next_round(gpointer data);

/* A round has failed; the next attempt may not. */
static void catchup_fail(Catchup *catchup, const char *reason)
{
        guint i;

        if (++catchup->n_tries < MAX_TRIES) {
                g_debug("catching up: %s, trying again", reason);
                catchup_end_round(catchup);
                catchup->state = CATCHUP_WAITING;
                catchup->timer =
                        g_timeout_add(RETRY_MS * catchup->n_tries, catchup_on_next_round, catchup);
                return;
        }
        /* What cannot be read is lost; otherwise it would be tried for ever. */
        for (i = 0; i < catchup->parts->len; i++) {
                const Part *part = &g_array_index(catchup->parts, Part, i);

                if (part->stream->identity)
                        merger_give_up(catchup->merger, part->stream, part->end);
        }
        catchup_finish(catchup, NULL, reason);
}

/* Something is short here. Nothing is lost, and the live reader is held until the round succeeds.
 */
static void catchup_wait(Catchup *catchup, const char *reason)
{
        catchup_end_round(catchup);
        catchup->state = CATCHUP_WAITING;
        catchup->timer = g_timeout_add(LOCAL_RETRY_MS, catchup_on_next_round, catchup);
        catchup->calls->waits(catchup->data, reason);
}

static void catchup_begin_round(Catchup *catchup)
{
        g_autoptr(GPtrArray) traces = NULL;
        g_autoptr(GArray) plans = NULL;
        g_autoptr(GError) error = NULL;
        bool is_probe;

        catchup->held = merger_last_held(catchup->merger);
        merger_close_ended(catchup->merger);
        traces = relay_files_scan(catchup->output, catchup->settings.session, MAX_AGE,
                                  catchup_wants, catchup, &error);
        if (!traces) {
                catchup_wait(catchup, error->message);
                return;
        }
        plans = plan_probe(catchup, traces);
        is_probe = plans->len > 0;
        catchup->cut = 0;
        if (!is_probe) {
                g_clear_pointer(&plans, g_array_unref);
                plans = plan_round(catchup, traces, &catchup->cut);
        }
        if (plans->len == 0) {
                catchup_finish(catchup, traces, NULL);
                return;
        }
        catchup->n_probed = is_probe ? plans->len : 0;
        catchup->state = is_probe ? CATCHUP_PROBING : CATCHUP_READING;
        if (catchup_copy(catchup, traces, plans, &error)) {
                if (!catchup_start_reader(catchup, is_probe ? INTAKE_PROBE : INTAKE_DISK, &error))
                        catchup_wait(catchup, error->message);
        } else if (g_error_matches(error, RELAY_FILES_ERROR, RELAY_FILES_ERROR_LOCAL)) {
                catchup_wait(catchup, error->message);
        } else {
                catchup_fail(catchup, error->message);
        }
}

static gboolean catchup_on_next_round(gpointer data)
{
        Catchup *catchup = data;

        catchup->timer = 0;
        catchup_begin_round(catchup);
        return G_SOURCE_REMOVE;
}

void catchup_start(Catchup *catchup, const char *output, bool is_attached)
{
        g_free(catchup->output);
        catchup->output = g_strdup(output);
        catchup->is_attached = is_attached;
        catchup->live = merger_live_number(catchup->merger);
        catchup->n_tries = 0;
        catchup_begin_round(catchup);
}

/* All packets of the round were read. */
static void catchup_on_round_read(Catchup *catchup)
{
        g_autoptr(GPtrArray) traces = NULL;
        g_autoptr(GError) error = NULL;
        uint64_t cut = catchup->cut;
        guint i;

        for (i = 0; i < catchup->parts->len; i++) {
                const Part *part = &g_array_index(catchup->parts, Part, i);

                part->stream->disk_end = MAX(part->stream->disk_end, part->end);
                catchup->stats.n_packets += part->n_packets;
                catchup->stats.n_bytes += part->n_bytes;
        }
        catchup->stats.n_rounds++;
        catchup->n_tries = 0;
        if (cut) {
                merger_settle(catchup->merger, cut - 1);
                catchup_end_round(catchup);
                catchup->state = CATCHUP_WAITING;
                catchup->timer = g_idle_add(catchup_on_next_round, catchup);
                return;
        }
        /*
         * Packets that were written since are of streams that still grow. Held streams go on live
         * from here; the others are read by the next catch-up.
         */
        traces = relay_files_scan(catchup->output, catchup->settings.session, MAX_AGE,
                                  catchup_wants, catchup, &error);
        if (traces)
                catchup_finish(catchup, traces, NULL);
        else
                catchup_wait(catchup, error->message);
}

static void catchup_on_reader_ended(void *data, Reader *reader, const char *reason)
{
        Catchup *catchup = data;
        g_autofree char *copy = g_strdup(reason);

        if (catchup->state == CATCHUP_READING && !copy)
                catchup_on_round_read(catchup);
        else
                catchup_fail(catchup,
                             copy ? copy : "babeltrace2 found nothing in the relay daemon's files");
}

bool catchup_drop_intake(Catchup *catchup, Intake *intake, bool is_broken)
{
        return catchup->reader && reader_drop_intake(catchup->reader, intake, is_broken);
}

void catchup_go_on(Catchup *catchup)
{
        const Intake *intake = catchup->reader ? reader_intake(catchup->reader) : NULL;

        if (catchup->state != CATCHUP_PROBING || !intake ||
            intake_n_streams(intake) < catchup->n_probed || !merger_is_ready(catchup->merger))
                return;
        catchup_end_round(catchup);
        catchup->state = CATCHUP_WAITING;
        catchup->timer = g_idle_add(catchup_on_next_round, catchup);
}
