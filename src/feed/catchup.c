/* SPDX-License-Identifier: MIT */
#include "feed/catchup.h"

#include "feed/relay-files.h"
#include "ctf/metadata.h"
#include "util/fd.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* Streams that the daemon is asked about at a time: a quarter of the streams that may be open. */
#define MAX_PROBED (INGEST_MAX_STREAMS / 4)
/*
 * Bytes that are read in a round. The live reader and everything else may wait for a whole round.
 */
#define MAX_ROUND_BYTES (4u << 20)
/* s. Earlier sessions of the name without a write for longer are not read. */
#define MAX_AGE 3600
/* Metadata that is kept in memory: a session can have a trace for each process. */
#define MAX_METADATA 32
/* A packet can be replaced, or its file truncated, while it is read. */
#define MAX_TRIES 4
#define RETRY_MS  200
/* ms until a retry, when descriptors or memory ran out. */
#define LOCAL_RETRY_MS 1000

typedef enum CatchupState {
        CATCHUP_IDLE,
        CATCHUP_ASKING,  /* until the daemon has answered for all streams on disk */
        CATCHUP_READING, /* a round begins when the daemon has room */
        CATCHUP_WAITING, /* to try again */
} CatchupState;

/* The metadata of a directory. */
typedef struct MetadataFile {
        struct stat st; /* of the file when it was read */
        uint8_t uuid[16];
        bool has_uuid;           /* the metadata is readable */
        TraceMetadata *metadata; /* owned; NULL: it cannot be read (yet), or it is not kept */
} MetadataFile;

/* The packets of a stream for a round. */
typedef struct Plan {
        const RelayTrace *trace;   /* borrowed */
        const RelayStream *stream; /* borrowed */
        FeedStream *feed;          /* borrowed */
        unsigned first, n;
} Plan;

struct Catchup {
        PacketFeed *feed;    /* borrowed */
        StreamTable *table;  /* borrowed */
        const char *session; /* borrowed */
        const CatchupCalls *calls;
        void *data;
        CatchupState state;
        char *output;        /* owned: the relay daemon's directory */
        GHashTable *files;   /* owned path of a directory -> owned MetadataFile */
        unsigned n_metadata; /* the number of kept metadata */
        GByteArray *packet;  /* owned: the packet that is read */
        uint64_t live;       /* number of the live reader when the catch-up began; 0: none */
        uint64_t held;       /* number of the last held stream when the round began */
        char *reason;        /* owned: the reason of a loss; NULL: nothing was lost */
        unsigned n_tries;
        guint timer;
        CatchupStats stats;
};

static gboolean catchup_on_next_round(gpointer data);

static void metadata_file_free(void *data)
{
        MetadataFile *file = data;

        trace_metadata_unref(file->metadata);
        g_free(file);
}

Catchup *catchup_new(PacketFeed *feed, StreamTable *table, const char *session,
                     const CatchupCalls *calls, void *data)
{
        Catchup *catchup = g_new0(Catchup, 1);

        catchup->feed = feed;
        catchup->table = table;
        catchup->session = session;
        catchup->calls = calls;
        catchup->data = data;
        catchup->files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, metadata_file_free);
        catchup->packet = g_byte_array_new();
        return catchup;
}

void catchup_cancel(Catchup *catchup)
{
        g_clear_handle_id(&catchup->timer, g_source_remove);
        g_clear_pointer(&catchup->reason, g_free);
        catchup->state = CATCHUP_IDLE;
}

void catchup_free(Catchup *catchup)
{
        if (!catchup)
                return;
        catchup_cancel(catchup);
        g_hash_table_destroy(catchup->files);
        g_byte_array_unref(catchup->packet);
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

static void catchup_schedule(Catchup *catchup, CatchupState state, unsigned ms)
{
        catchup->state = state;
        g_clear_handle_id(&catchup->timer, g_source_remove);
        catchup->timer = ms ? g_timeout_add(ms, catchup_on_next_round, catchup)
                            : g_idle_add(catchup_on_next_round, catchup);
}

/* A resource has run out. Nothing is lost, and the live reader is held until the resource is
 * available. */
static void catchup_wait(Catchup *catchup, const char *reason)
{
        catchup_schedule(catchup, CATCHUP_WAITING, LOCAL_RETRY_MS);
        catchup->calls->waits(catchup->data, reason);
}

/* Metadata */

static int read_whole(const char *path, GByteArray *bytes, struct stat *ret_st)
{
        FD_AUTO int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        size_t n = 0;

        if (fd < 0 || fstat(fd, ret_st) < 0)
                return errno;
        if (!S_ISREG(ret_st->st_mode) || ret_st->st_size > CTF_METADATA_MAX)
                return EFBIG;
        g_byte_array_set_size(bytes, (guint)ret_st->st_size);
        while (n < bytes->len) {
                ssize_t got = pread(fd, bytes->data + n, bytes->len - n, (off_t)n);

                if (got < 0 && errno == EINTR)
                        continue;
                if (got < 0)
                        return errno;
                if (got == 0)
                        break;
                n += (size_t)got;
        }
        g_byte_array_set_size(bytes, (guint)n);
        return 0;
}

/* True if the file is the same, and was not written to. */
static bool stat_is_same(const struct stat *a, const struct stat *b)
{
        return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
               a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static void catchup_drop_metadata(Catchup *catchup)
{
        GHashTableIter iter;
        void *value;

        g_hash_table_iter_init(&iter, catchup->files);
        while (g_hash_table_iter_next(&iter, NULL, &value))
                g_clear_pointer(&((MetadataFile *)value)->metadata, trace_metadata_unref);
        catchup->n_metadata = 0;
}

/* Reads a file that is new, has changed, or is not kept. If that fails, the metadata known before
 * stays. */
static int catchup_read_metadata(Catchup *catchup, const char *name, MetadataFile *file)
{
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        TraceMetadata *metadata = NULL;
        const uint8_t *uuid;
        struct stat st;
        size_t n;
        int code;

        code = read_whole(name, bytes, &st);
        if (code != 0)
                return code;
        /* A session that is restarted in the same second has the same directory. */
        if (file->st.st_ino != st.st_ino) {
                g_clear_pointer(&file->metadata, trace_metadata_unref);
                file->has_uuid = false;
        }
        n = trace_metadata_whole(bytes->data, bytes->len);
        if (catchup->n_metadata >= MAX_METADATA)
                catchup_drop_metadata(catchup);
        if (n)
                metadata = trace_metadata_new(bytes->data, n, catchup->feed->use,
                                              catchup->feed->counts, NULL);
        file->st = st;
        if (!metadata) {
                file->has_uuid &= file->metadata != NULL;
                return 0;
        }
        trace_metadata_unref(file->metadata);
        file->metadata = metadata;
        catchup->n_metadata++;
        uuid = trace_metadata_uuid(metadata);
        file->has_uuid = uuid != NULL;
        if (uuid)
                memcpy(file->uuid, uuid, sizeof(file->uuid));
        return 0;
}

/* The file of metadata in a directory, as it is now, and with IS_WANTED its metadata, valid until
 * the next call. NULL: there is none. RET_ERRNO: the reason why it cannot be read. */
static MetadataFile *catchup_metadata_file(Catchup *catchup, const char *path, bool is_wanted,
                                           int *ret_errno)
{
        g_autofree char *name = g_build_filename(path, "metadata", NULL);
        MetadataFile *file = g_hash_table_lookup(catchup->files, path);
        struct stat st;
        int code;

        if (stat(name, &st) < 0)
                return NULL;
        if (file && stat_is_same(&file->st, &st) &&
            (file->metadata || !file->has_uuid || !is_wanted))
                return file;
        if (!file) {
                file = g_new0(MetadataFile, 1);
                g_hash_table_insert(catchup->files, g_strdup(path), file);
        }
        code = catchup_read_metadata(catchup, name, file);
        if (code == 0)
                return file;
        *ret_errno = code;
        return NULL;
}

static TraceMetadata *catchup_metadata(Catchup *catchup, const char *path, int *ret_errno)
{
        MetadataFile *file = catchup_metadata_file(catchup, path, true, ret_errno);

        return file ? file->metadata : NULL;
}

static const uint8_t *catchup_identify(void *data, const char *path, int *ret_errno)
{
        MetadataFile *file = catchup_metadata_file(data, path, false, ret_errno);

        return file && file->has_uuid ? file->uuid : NULL;
}

/* Streams that are fed live, or were fed live to their end, need no packets from disk. */
static bool catchup_wants(void *data, const StreamKey *key)
{
        return !stream_is_complete(stream_table_get(((Catchup *)data)->table, key));
}

static const RelayCalls RELAY_CALLS = {.identify = catchup_identify, .wants = catchup_wants};

static GPtrArray *catchup_scan(Catchup *catchup, char **ret_unread, GError **error)
{
        return relay_files_scan(catchup->output, catchup->session, MAX_AGE, &RELAY_CALLS, catchup,
                                ret_unread, error);
}

/* Rounds */

/* The first packet to read: the first that has something new. */
static unsigned disk_first_needed(const RelayStream *disk, uint64_t position)
{
        unsigned i = 0;

        while (i < disk->packets->len &&
               g_array_index(disk->packets, RelayPacket, i).end <= position)
                i++;
        return i;
}

static bool disk_is_ahead(const RelayStream *disk, const FeedStream *stream)
{
        return disk->packets->len > 0 &&
               g_array_index(disk->packets, RelayPacket, disk->packets->len - 1).end >
                       stream_position(stream);
}

static const RelayPacket *plan_packet(const Plan *plan, unsigned i)
{
        return &g_array_index(plan->stream->packets, RelayPacket, plan->first + i);
}

/* The next packet to add, or NULL. */
static const RelayPacket *plan_next(const Plan *plan)
{
        return plan->first + plan->n < plan->stream->packets->len ? plan_packet(plan, plan->n)
                                                                  : NULL;
}

/* Opens streams that the daemon was not asked about yet, up to MAX_PROBED at a time. False: the
 * daemon has not answered yet. */
static bool catchup_open_streams(Catchup *catchup, const GPtrArray *traces)
{
        unsigned n_asked = 0;
        guint i, j;

        for (i = 0; i < traces->len; i++) {
                const RelayTrace *trace = traces->pdata[i];

                for (j = 0; j < trace->streams->len && n_asked < MAX_PROBED; j++) {
                        const RelayStream *disk = trace->streams->pdata[j];
                        FeedStream *stream = stream_table_get(catchup->table, &disk->key);
                        const TraceMetadata *metadata;
                        int ignored = 0;

                        if (disk->packets->len == 0 || stream->state != STREAM_UNOPENED)
                                continue;
                        metadata = catchup_metadata(catchup, trace->path, &ignored);
                        if (metadata && trace_metadata_identify(metadata, stream) &&
                            outlet_open(catchup->feed->outlet, stream))
                                n_asked++;
                }
        }
        return outlet_is_ready(catchup->feed->outlet);
}

/* Adds packets of all streams in order of time, until the round is large enough. RET_CUT: the end
 * of the round; 0: the round has everything. */
static void plan_packets(GArray *plans, uint64_t *ret_cut)
{
        uint64_t n_bytes = 0;

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
                if (n_bytes > MAX_ROUND_BYTES) {
                        *ret_cut = first->begin;
                        return;
                }
                n_bytes += first->size;
                chosen->n++;
        }
}

/* The new packets of the oldest session that has any. */
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
                                .stream = disk,
                                .feed = stream_table_get(catchup->table, &disk->key),
                        };

                        if (!plan.feed->identity || plan.feed->number == FEED_STREAM_NO_NUMBER ||
                            !disk_is_ahead(disk, plan.feed))
                                continue;
                        plan.first = disk_first_needed(disk, stream_position(plan.feed));
                        g_array_append_val(plans, plan);
                }
        }
        plan_packets(plans, ret_cut);
        return plans;
}

/* Earlier events of the streams are no longer known to be complete, unless they were fed. */
static void catchup_forget_pasts(Catchup *catchup)
{
        GHashTableIter iter;
        void *value;

        g_hash_table_iter_init(&iter, catchup->table->streams);
        while (g_hash_table_iter_next(&iter, NULL, &value))
                ((FeedStream *)value)->has_unknown_past = true;
}

/* Ends the catch-up. TRACES: the present traces on disk. */
static void catchup_finish(Catchup *catchup, const GPtrArray *traces)
{
        g_autofree char *reason = g_steal_pointer(&catchup->reason);
        guint i, j;

        for (i = 0; i < traces->len; i++) {
                const RelayTrace *trace = traces->pdata[i];

                for (j = 0; j < trace->streams->len; j++) {
                        const RelayStream *disk = trace->streams->pdata[j];
                        FeedStream *stream = stream_table_get(catchup->table, &disk->key);

                        if (!stream->identity || disk_is_ahead(disk, stream))
                                continue;
                        if ((trace->is_over || stream->ended) && stream->state != STREAM_LIVE)
                                outlet_close(catchup->feed->outlet, stream);
                        else
                                stream->caught_up = catchup->live;
                }
        }
        if (reason)
                catchup_forget_pasts(catchup);
        catchup_drop_metadata(catchup);
        catchup_cancel(catchup);
        catchup->calls->done(catchup->data, catchup->held, reason);
}

/* The outcome of reading a packet. */
typedef enum ReadPacket {
        READ_PACKET_DONE,  /* it is fed, or given up */
        READ_PACKET_AGAIN, /* it may be read later */
        READ_PACKET_LOCAL, /* a resource has run out */
} ReadPacket;

/* False with ERROR set: the packet is missing, or is not the one in the index. */
static bool catchup_read(Catchup *catchup, const Plan *plan, const RelayPacket *packet,
                         const TraceMetadata *metadata, FeedPacket *ret_packet, GError **error)
{
        CtfLayout *layout = trace_metadata_layout(metadata);
        CtfPacket head;

        if (!relay_stream_read(plan->stream, packet, catchup->packet, error))
                return false;
        if (layout &&
            ctf_packet_parse(catchup->packet->data, catchup->packet->len, &layout, &head, NULL) &&
            ((head.has_begin && head.begin != packet->begin) ||
             (head.has_end && head.end != packet->end))) {
                g_set_error(error, RELAY_FILES_ERROR, RELAY_FILES_ERROR_GONE,
                            "a packet of %s is not the one in its index: it was replaced",
                            (const char *)plan->stream->files->pdata[packet->file]);
                return false;
        }
        *ret_packet = (FeedPacket){
                .metadata = metadata,
                .bytes = catchup->packet->data,
                .n = catchup->packet->len,
                .begin = packet->begin,
                .end = packet->end,
        };
        return true;
}

/* Passes the packet before the first new one, so that losses between the two are noticed. */
static void catchup_pass_previous(Catchup *catchup, const Plan *plan, const TraceMetadata *metadata)
{
        const RelayPacket *previous;
        FeedPacket packet;

        if (plan->feed->has_begun || plan->first == 0)
                return;
        previous = &g_array_index(plan->stream->packets, RelayPacket, plan->first - 1);
        if (catchup_read(catchup, plan, previous, metadata, &packet, NULL))
                packet_feed_pass(catchup->feed, plan->feed, &packet);
}

static ReadPacket catchup_read_packet(Catchup *catchup, const Plan *plan, const RelayPacket *packet,
                                      GError **error)
{
        FeedStream *stream = plan->feed;
        FeedPacket feed_packet;
        int code = 0;
        const TraceMetadata *metadata = catchup_metadata(catchup, plan->trace->path, &code);
        bool is_local = relay_errno_is_local(code);
        g_autoptr(GError) failed = NULL;

        if (!metadata) {
                g_set_error(error, RELAY_FILES_ERROR,
                            is_local ? RELAY_FILES_ERROR_LOCAL : RELAY_FILES_ERROR_GONE,
                            "the metadata in %s: %s", plan->trace->path,
                            code ? g_strerror(code) : "it cannot be read any more");
                return is_local ? READ_PACKET_LOCAL : READ_PACKET_AGAIN;
        }
        catchup_pass_previous(catchup, plan, metadata);
        if (!catchup_read(catchup, plan, packet, metadata, &feed_packet, &failed)) {
                is_local = g_error_matches(failed, RELAY_FILES_ERROR, RELAY_FILES_ERROR_LOCAL);
                if (is_local || catchup->n_tries + 1 < MAX_TRIES) {
                        g_propagate_error(error, g_steal_pointer(&failed));
                        return is_local ? READ_PACKET_LOCAL : READ_PACKET_AGAIN;
                }
                /* A packet that cannot be read is a loss; otherwise it would be retried forever. */
                packet_feed_lose(catchup->feed, OUTLET_DISK, stream, packet->begin, packet->end,
                                 failed->message);
                g_free(catchup->reason);
                catchup->reason = g_strdup(failed->message);
        } else if (packet_feed_begin(catchup->feed, OUTLET_DISK, stream, &feed_packet)) {
                while (packet_feed_take(catchup->feed, OUTLET_DISK, stream))
                        ;
        }
        stream->disk_end = MAX(stream->disk_end, packet->end);
        catchup->stats.n_packets++;
        catchup->stats.n_bytes += packet->size;
        return READ_PACKET_DONE;
}

/* False with ERROR set: some packets were not read. */
static ReadPacket catchup_read_plans(Catchup *catchup, const GArray *plans, GError **error)
{
        ReadPacket worst = READ_PACKET_DONE;
        guint i;
        unsigned j;

        for (i = 0; i < plans->len; i++) {
                Plan *plan = &g_array_index(plans, Plan, i);

                for (j = 0; j < plan->n; j++) {
                        g_autoptr(GError) failed = NULL;
                        ReadPacket result =
                                catchup_read_packet(catchup, plan, plan_packet(plan, j), &failed);

                        if (result == READ_PACKET_DONE)
                                continue;
                        /* The other streams are read all the same. */
                        if (result > worst) {
                                g_clear_error(error);
                                g_propagate_error(error, g_steal_pointer(&failed));
                        }
                        worst = MAX(worst, result);
                        break;
                }
        }
        return worst;
}

static void catchup_read_round(Catchup *catchup, const GPtrArray *traces)
{
        g_autoptr(GArray) plans = NULL;
        g_autoptr(GError) error = NULL;
        uint64_t cut;

        plans = plan_round(catchup, traces, &cut);
        if (plans->len == 0) {
                catchup_finish(catchup, traces);
                return;
        }
        switch (catchup_read_plans(catchup, plans, &error)) {
        case READ_PACKET_DONE:
                catchup->n_tries = 0;
                catchup->stats.n_rounds++;
                packet_feed_report(catchup->feed);
                if (cut)
                        outlet_settle_disk(catchup->feed->outlet, cut - 1);
                catchup_schedule(catchup, CATCHUP_READING, 0);
                break;
        case READ_PACKET_AGAIN:
                g_debug("catching up: %s, trying again", error->message);
                catchup->n_tries++;
                catchup_schedule(catchup, CATCHUP_WAITING, RETRY_MS * catchup->n_tries);
                break;
        case READ_PACKET_LOCAL:
                catchup_wait(catchup, error->message);
                break;
        }
}

/* Not everything on disk could be read. False: the rest is given up. */
static bool catchup_tries_again(Catchup *catchup, const char *unread)
{
        /* Each round would report the same. */
        if (catchup->reason)
                return false;
        if (catchup->n_tries + 1 < MAX_TRIES) {
                catchup->n_tries++;
                catchup_schedule(catchup, CATCHUP_WAITING, RETRY_MS * catchup->n_tries);
                return true;
        }
        catchup->reason = g_strdup(unread);
        return false;
}

/* Begins a round, if the daemon has room. */
static void catchup_begin_round(Catchup *catchup)
{
        g_autoptr(GPtrArray) traces = NULL;
        g_autofree char *unread = NULL;
        g_autoptr(GError) error = NULL;

        if (!outlet_may_put(catchup->feed->outlet)) {
                catchup->state = CATCHUP_ASKING;
                return;
        }
        catchup->held = catchup->calls->last_held(catchup->data);
        outlet_close_ended(catchup->feed->outlet);
        traces = catchup_scan(catchup, &unread, &error);
        if (!traces)
                catchup_wait(catchup, error->message);
        else if (unread && catchup_tries_again(catchup, unread))
                return;
        else if (!catchup_open_streams(catchup, traces))
                catchup->state = CATCHUP_ASKING;
        else
                catchup_read_round(catchup, traces);
}

static gboolean catchup_on_next_round(gpointer data)
{
        Catchup *catchup = data;

        catchup->timer = 0;
        catchup_begin_round(catchup);
        return G_SOURCE_REMOVE;
}

void catchup_start(Catchup *catchup, const char *output, uint64_t live)
{
        g_free(catchup->output);
        catchup->output = g_strdup(output);
        catchup->live = live;
        catchup->n_tries = 0;
        catchup_begin_round(catchup);
}

void catchup_go_on(Catchup *catchup)
{
        if (catchup->state == CATCHUP_ASKING && !catchup->timer &&
            outlet_is_ready(catchup->feed->outlet) && outlet_may_put(catchup->feed->outlet))
                catchup_schedule(catchup, CATCHUP_READING, 0);
}
