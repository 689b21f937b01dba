/* SPDX-License-Identifier: MIT */
#include "feed/catchup.h"

#include "feed/disk.h"
#include "feed/reader.h"

#include <string.h>

/* What is copied at a time. It is one wait for the live reader. */
#define MAX_ROUND_BYTES (16u << 20)
/* s. Sessions of the same name that were over for longer are not looked at. */
#define MAX_AGE 3600
/* A file may grow, or its packet be replaced, while it is copied. */
#define MAX_TRIES    4
#define RETRY_MS     200
#define PROBE_WAIT_S 10

typedef enum State {
        STATE_IDLE,
        STATE_PROBING, /* until the daemon knows all streams that there are */
        STATE_READING, /* packets */
        STATE_WAITING, /* to try again */
} State;

/* What becomes of a stream with this round. */
typedef struct Part {
        FeedStream *stream; /* borrowed */
        uint64_t end;       /* of the last packet that is read */
        unsigned n_packets;
        uint64_t n_bytes;
} Part;

struct Catchup {
        Merger *merger;           /* borrowed */
        StreamTable *table;       /* borrowed */
        CatchupSettings settings; /* borrowed */
        const CatchupCalls *calls;
        void *data;
        State state;
        char *output;   /* owned: of the relay daemon */
        char *excerpt;  /* owned: the directory that is read now, or NULL */
        GArray *parts;  /* of Part */
        Reader *reader; /* owned */
        bool is_attached;
        uint64_t cut;  /* this round has everything before that; 0: all that there is */
        uint64_t held; /* the last one at its beginning */
        uint64_t live; /* number of the live reader at its beginning */
        unsigned n_tries;
        unsigned n_probed; /* streams that the probe has packets of */
        guint timer;
        CatchupStats stats;
};

static void on_reader_ended(void *data, Reader *reader, const char *why);

static const ReaderCalls READER_CALLS = {on_reader_ended};

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

static void end_round(Catchup *catchup)
{
        g_clear_handle_id(&catchup->timer, g_source_remove);
        g_clear_pointer(&catchup->reader, reader_free);
        if (catchup->excerpt)
                disk_remove(catchup->excerpt);
        g_clear_pointer(&catchup->excerpt, g_free);
        g_array_set_size(catchup->parts, 0);
}

void catchup_cancel(Catchup *catchup)
{
        end_round(catchup);
        catchup->state = STATE_IDLE;
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
        return catchup->state != STATE_IDLE;
}

const CatchupStats *catchup_stats(const Catchup *catchup)
{
        return &catchup->stats;
}

pid_t catchup_pid(const Catchup *catchup)
{
        return catchup->reader ? reader_pid(catchup->reader) : 0;
}

/* Streams that are fed live, or were to their end, need nothing from here. */
static bool is_wanted(void *data, const StreamKey *key)
{
        const FeedStream *stream = stream_table_get(((Catchup *)data)->table, key);

        return !stream->is_live && !stream->is_whole;
}

/* The first packet that is needed: one before those that are new, so that it shows what is lost. */
static unsigned first_needed(const DiskStream *disk, uint64_t position)
{
        unsigned i = 0;

        while (i < disk->packets->len &&
               g_array_index(disk->packets, DiskPacket, i).end <= position)
                i++;
        return i > 0 ? i - 1 : 0;
}

static bool has_news(const DiskStream *disk, const FeedStream *stream)
{
        return disk->packets->len > 0 &&
               g_array_index(disk->packets, DiskPacket, disk->packets->len - 1).end >
                       stream_position(stream);
}

/* Packets of a stream that are to be read in a round. */
typedef struct Plan {
        const DiskTrace *trace; /* borrowed */
        FeedStream *stream;     /* borrowed */
        DiskSelection selection;
} Plan;

static const DiskPacket *plan_packet(const Plan *plan, unsigned i)
{
        return &g_array_index(plan->selection.stream->packets, DiskPacket,
                              plan->selection.first + i);
}

/* The next one that could be added, or NULL. */
static const DiskPacket *plan_next(const Plan *plan)
{
        const DiskSelection *selection = &plan->selection;

        return selection->first + selection->n < selection->stream->packets->len
                       ? plan_packet(plan, selection->n)
                       : NULL;
}

static bool plan_is_new(const Plan *plan, const DiskPacket *packet)
{
        return packet->end > stream_position(plan->stream);
}

/* Streams that the daemon was not asked about yet: the last packet of each says who they are. */
static GArray *plan_probe(Catchup *catchup, const GPtrArray *traces)
{
        GArray *plans = g_array_new(FALSE, TRUE, sizeof(Plan));
        guint i, j;

        for (i = 0; i < traces->len; i++) {
                const DiskTrace *trace = traces->pdata[i];

                for (j = 0; j < trace->streams->len; j++) {
                        const DiskStream *disk = trace->streams->pdata[j];
                        Plan plan = {
                                .trace = trace,
                                .stream = stream_table_get(catchup->table, &disk->key),
                                .selection = {disk, disk->packets->len - 1, 1},
                        };

                        if (disk->packets->len > 0 && !plan.stream->identity)
                                g_array_append_val(plans, plan);
                }
        }
        return plans;
}

/* Packets of all streams in order of time, until it is enough. */
static void plan_packets(GArray *plans, uint64_t *ret_cut)
{
        uint64_t n_bytes = 0;
        bool has_new = false;

        for (;;) {
                const DiskPacket *first = NULL;
                Plan *chosen = NULL;
                guint i;

                for (i = 0; i < plans->len; i++) {
                        Plan *plan = &g_array_index(plans, Plan, i);
                        const DiskPacket *packet = plan_next(plan);

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

/* What is new of the oldest session that has something new. RET_CUT: 0, or it is not all. */
static GArray *plan_round(Catchup *catchup, const GPtrArray *traces, uint64_t *ret_cut)
{
        GArray *plans = g_array_new(FALSE, TRUE, sizeof(Plan));
        guint i, j;

        *ret_cut = 0;
        for (i = 0; i < traces->len; i++) {
                const DiskTrace *trace = traces->pdata[i];

                if (plans->len && g_array_index(plans, Plan, 0).trace->session != trace->session) {
                        *ret_cut = UINT64_MAX;
                        break;
                }
                for (j = 0; j < trace->streams->len; j++) {
                        const DiskStream *disk = trace->streams->pdata[j];
                        Plan plan = {
                                .trace = trace,
                                .stream = stream_table_get(catchup->table, &disk->key),
                        };

                        if (!has_news(disk, plan.stream))
                                continue;
                        plan.selection.stream = disk;
                        plan.selection.first = first_needed(disk, stream_position(plan.stream));
                        g_array_append_val(plans, plan);
                }
        }
        plan_packets(plans, ret_cut);
        /* Those whose turn it was not, but for what they had before. */
        for (i = plans->len; i-- > 0;) {
                const Plan *plan = &g_array_index(plans, Plan, i);

                if (plan->selection.n == 0 ||
                    !plan_is_new(plan, plan_packet(plan, plan->selection.n - 1)))
                        g_array_remove_index(plans, i);
        }
        return plans;
}

static bool start_reader(Catchup *catchup, IntakeMode mode, GError **error)
{
        catchup->reader =
                reader_start(catchup->merger, mode, catchup->excerpt, catchup->settings.directory,
                             catchup->settings.jit_events, &READER_CALLS, catchup, error);
        return catchup->reader != NULL;
}

/* Copies what is to be read aside, a directory a trace. False with ERROR set. */
static bool copy(Catchup *catchup, const GPtrArray *traces, const GArray *plans, GError **error)
{
        guint i, j;

        catchup->excerpt = g_build_filename(catchup->settings.directory, "excerpt", NULL);
        disk_remove(catchup->excerpt);
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
                g_autoptr(GArray) selections = g_array_new(FALSE, TRUE, sizeof(DiskSelection));
                g_autofree char *name = g_strdup_printf("%u", i);
                g_autofree char *path = g_build_filename(catchup->excerpt, name, NULL);

                for (j = 0; j < plans->len; j++) {
                        const Plan *plan = &g_array_index(plans, Plan, j);

                        if (plan->trace == traces->pdata[i])
                                g_array_append_val(selections, plan->selection);
                }
                if (selections->len &&
                    !disk_excerpt(traces->pdata[i], (DiskSelection *)(void *)selections->data,
                                  selections->len, path, error))
                        return false;
        }
        return true;
}

/* Of streams that nobody has fed anything of, nobody knows what they had. */
static void set_late(Catchup *catchup)
{
        GHashTableIter iter;
        void *value;

        g_hash_table_iter_init(&iter, catchup->table->streams);
        while (g_hash_table_iter_next(&iter, NULL, &value))
                ((FeedStream *)value)->is_late = true;
}

/* Everything was read that was there. */
static void finish(Catchup *catchup, const GPtrArray *traces, const char *why)
{
        guint i, j;

        for (i = 0; traces && i < traces->len; i++) {
                const DiskTrace *trace = traces->pdata[i];

                for (j = 0; j < trace->streams->len; j++) {
                        const DiskStream *disk = trace->streams->pdata[j];
                        FeedStream *stream = stream_table_get(catchup->table, &disk->key);

                        if (!stream->identity || has_news(disk, stream))
                                continue;
                        if (trace->is_over)
                                merger_close_stream(catchup->merger, stream);
                        else if (catchup->is_attached)
                                stream->caught_up = catchup->live;
                }
        }
        if (why)
                set_late(catchup);
        catchup_cancel(catchup);
        catchup->calls->done(catchup->data, catchup->held, why);
}

static gboolean next_round(gpointer data);

/* It failed; maybe it does not the next time. */
static void fail(Catchup *catchup, const char *why)
{
        guint i;

        if (++catchup->n_tries < MAX_TRIES) {
                g_debug("catching up: %s, trying again", why);
                end_round(catchup);
                catchup->state = STATE_WAITING;
                catchup->timer = g_timeout_add(RETRY_MS * catchup->n_tries, next_round, catchup);
                return;
        }
        /* What cannot be read is lost; else it would be tried for ever. */
        for (i = 0; i < catchup->parts->len; i++) {
                const Part *part = &g_array_index(catchup->parts, Part, i);

                if (part->stream->identity)
                        merger_give_up(catchup->merger, part->stream, part->end);
        }
        finish(catchup, NULL, why);
}

static void begin_round(Catchup *catchup)
{
        g_autoptr(GPtrArray) traces = NULL;
        g_autoptr(GArray) plans = NULL;
        g_autoptr(GError) error = NULL;
        bool is_probe;

        catchup->held = merger_last_held(catchup->merger);
        traces = disk_scan(catchup->output, catchup->settings.session, MAX_AGE, is_wanted, catchup);
        plans = plan_probe(catchup, traces);
        is_probe = plans->len > 0;
        catchup->cut = 0;
        if (!is_probe) {
                g_clear_pointer(&plans, g_array_unref);
                plans = plan_round(catchup, traces, &catchup->cut);
        }
        if (plans->len == 0) {
                finish(catchup, traces, NULL);
                return;
        }
        catchup->n_probed = is_probe ? plans->len : 0;
        catchup->state = is_probe ? STATE_PROBING : STATE_READING;
        if (!copy(catchup, traces, plans, &error) ||
            !start_reader(catchup, is_probe ? INTAKE_PROBE : INTAKE_DISK, &error))
                fail(catchup, error->message);
}

static gboolean next_round(gpointer data)
{
        Catchup *catchup = data;

        catchup->timer = 0;
        begin_round(catchup);
        return G_SOURCE_REMOVE;
}

void catchup_start(Catchup *catchup, const char *output, bool is_attached)
{
        g_free(catchup->output);
        catchup->output = g_strdup(output);
        catchup->is_attached = is_attached;
        catchup->live = merger_live_number(catchup->merger);
        catchup->n_tries = 0;
        begin_round(catchup);
}

/* The packets of the round are in. */
static void round_done(Catchup *catchup)
{
        g_autoptr(GPtrArray) traces = NULL;
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
                end_round(catchup);
                catchup->state = STATE_WAITING;
                catchup->timer = g_idle_add(next_round, catchup);
                return;
        }
        /*
         * What has come since is of streams that still grow. Those that are held go on live from
         * here; of the others it is for the next time.
         */
        traces = disk_scan(catchup->output, catchup->settings.session, MAX_AGE, is_wanted, catchup);
        finish(catchup, traces, NULL);
}

static void on_reader_ended(void *data, Reader *reader, const char *why)
{
        Catchup *catchup = data;
        g_autofree char *reason = g_strdup(why);

        if (catchup->state == STATE_READING && !reason) {
                round_done(catchup);
                return;
        }
        fail(catchup, reason ? reason : "babeltrace2 found nothing in the relay daemon's files");
}

bool catchup_drop_intake(Catchup *catchup, Intake *intake, bool is_broken)
{
        return catchup->reader && reader_drop_intake(catchup->reader, intake, is_broken);
}

void catchup_go_on(Catchup *catchup)
{
        const Intake *intake = catchup->reader ? reader_intake(catchup->reader) : NULL;

        if (catchup->state != STATE_PROBING || !intake ||
            intake_n_streams(intake) < catchup->n_probed || !merger_is_ready(catchup->merger))
                return;
        end_round(catchup);
        catchup->state = STATE_WAITING;
        catchup->timer = g_idle_add(next_round, catchup);
}
