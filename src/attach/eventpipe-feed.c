/* SPDX-License-Identifier: MIT */
#include "attach/eventpipe-feed.h"

#include "attach/error.h"
#include "event/boot-id.h"
#include "nettrace/reader.h"
#include "util/backoff.h"
#include "util/unix-socket.h"
#include "wire/ingest-uplink.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The stream of a session. */
typedef struct FeedSource {
        NettraceReader *reader; /* owned; NULL: none */
        GError *error;          /* owned: the stream is damaged */
} FeedSource;

struct EventPipeFeed {
        FeedTarget target;
        char *ingest; /* owned */
        FeedSource session, listing;
        WorkerShare *share; /* borrowed or NULL */
        uint64_t n_waiting; /* bytes in the readers, as counted in SHARE */
        bool is_listing;    /* records of the session wait for the end of the listing */
        Record listed;      /* the listing's next record */
        bool has_listed;    /* borrows from the listing's reader */
        uint64_t horizon;   /* ns */
        uint64_t last;      /* ns: of the last record */
        uint64_t gap_end;   /* ns: end of the last gap */
        uint64_t drop_time; /* ns: records are dropped since then; 0: they are not */
        uint64_t n_dropped;
        uint64_t committed;  /* ns: time of the last record in a kept batch */
        uint64_t n_in_batch; /* records */
        FeederReport report; /* the report that was sent last */
        void (*took)(void *data, const Record *record); /* NULL: nobody watches */
        void *took_data;

        IngestUplink *uplink; /* owned */
        IngestClient *client; /* borrowed from the uplink */
        IngestStream *stream; /* borrowed */
        Backlog *backlog;     /* owned */

        uint64_t acknowledged; /* ns: the stream's watermark, as the daemon reported it last */
        bool is_forgotten;     /* the watermark went back */
        gint64 next_try;       /* us of g_get_monotonic_time(): next connection attempt */
        Backoff backoff;
        char *trouble;      /* owned or NULL: see eventpipe_feed_trouble() */
        bool is_greeted;    /* the daemon has answered on this connection */
        BacklogLoss logged; /* the reason for lost events that was logged last */
};

/* All workers of one attachment have one trace. */
static void feed_trace_uuid(const FeedTarget *target, const char *boot_id, uint8_t ret_uuid[16])
{
        g_autofree char *text = g_strdup_printf(
                "EventPipe %s %" G_GUINT64_FORMAT " %d %" G_GUINT64_FORMAT " %" G_GINT64_FORMAT,
                boot_id, (guint64)target->process.pid_ns, (int)target->process.pid,
                (guint64)target->start_ticks, (gint64)target->clock_offset);
        g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
        uint8_t digest[32];
        gsize n = sizeof(digest);

        g_checksum_update(checksum, (const uint8_t *)text, -1);
        g_checksum_get_digest(checksum, digest, &n);
        memcpy(ret_uuid, digest, 16);
}

static StreamIdentity *feed_identity_new(const FeedTarget *target, uint64_t since)
{
        StreamIdentity *identity = stream_identity_new();
        char host[256] = "";

        gethostname(host, sizeof(host) - 1);
        g_string_assign(identity->hostname, host);
        /* The events are of this boot, even if the clock was set since. */
        boot_id_append(identity->boot_id, host, /* clock_uuid= */ NULL,
                       (g_get_real_time() - g_get_monotonic_time()) * 1000);
        feed_trace_uuid(target, identity->boot_id->str, identity->trace_uuid);
        identity->stream_id = since;
        identity->scheme = BUFFER_SCHEME_PER_PID;
        identity->uid = target->uid;
        identity->pid = target->process.pid;
        stream_identity_set_clock(identity, "monotonic", target->clock_offset);
        return identity;
}

static void feed_source_clear(FeedSource *source)
{
        g_clear_pointer(&source->reader, nettrace_reader_free);
        g_clear_error(&source->error);
}

static void feed_source_push(FeedSource *source, const uint8_t *bytes, size_t n)
{
        if (source->reader && !source->error)
                nettrace_reader_push(source->reader, bytes, n, &source->error);
}

/* Batches */

/* Reasons for lost events, with the remedy. */
static const char *const LOSSES[] = {
        [BACKLOG_LOSS_PROCESS] = "the file for events of one process is full: raise "
                                 "CLRSYM_SPILL_LIMIT= of clrsym-holder",
        [BACKLOG_LOSS_USER] = "the files for events of this user's processes have reached half of "
                              "CLRSYM_SPILL_TOTAL= of clrsym-holder: raise it",
        [BACKLOG_LOSS_TOTAL] = "the files for events of all processes are full: raise "
                               "CLRSYM_SPILL_TOTAL= of clrsym-holder",
        [BACKLOG_LOSS_SPACE] = "the file system of $TMPDIR or /var/tmp is nearly full: make room",
        [BACKLOG_LOSS_FILE] = "the file for events cannot be written in $TMPDIR or /var/tmp",
};

static void feed_log_loss(EventPipeFeed *feed)
{
        const BacklogLoss loss = MAX(backlog_loss(feed->backlog), BACKLOG_LOSS_PROCESS);

        if (feed->logged == loss)
                return;
        feed->logged = loss;
        g_warning("events of process %d of user %u are lost, because the daemon does not take them "
                  "(%s), and %s",
                  (int)feed->target.process.pid, (unsigned)feed->target.uid,
                  feed->trouble ? feed->trouble : "it is slow", LOSSES[loss]);
}

static void feed_drop_since(EventPipeFeed *feed, uint64_t time)
{
        if (!feed->drop_time) {
                feed->n_dropped = 0;
                feed_log_loss(feed);
        }
        feed->drop_time = feed->drop_time ? feed->drop_time : time;
}

static void feed_commit(EventPipeFeed *feed)
{
        if (!ingest_client_batch(feed->client)->len)
                return;
        if (backlog_commit(feed->backlog, feed->last)) {
                feed->committed = feed->last;
        } else {
                feed_drop_since(feed, feed->committed);
                feed->n_dropped += feed->n_in_batch;
        }
        feed->n_in_batch = 0;
}

static void feed_put_gap(EventPipeFeed *feed, const StreamGap *gap)
{
        StreamGap rising = *gap;

        /* The daemon takes a gap that does not end later than the one before for known. */
        rising.end = MAX(rising.end, feed->gap_end + 1);
        feed->gap_end = rising.end;
        ingest_put_gap(ingest_client_batch(feed->client), feed->stream->number, &rising);
}

static void feed_lose(EventPipeFeed *feed, uint64_t begin, uint64_t end, uint64_t count)
{
        const StreamGap gap = {GAP_EVENTS, begin, end, count};

        feed_put_gap(feed, &gap);
}

/* Starts to drop records, or stops: then the daemon gets a gap up to END. */
static void feed_check_room(EventPipeFeed *feed, uint64_t end)
{
        if (!feed->drop_time && backlog_is_full(feed->backlog)) {
                feed_drop_since(feed, MAX(feed->last, feed->horizon));
        } else if (feed->drop_time && backlog_has_room(feed->backlog)) {
                feed_lose(feed, feed->drop_time, MAX(end, feed->drop_time), feed->n_dropped);
                feed->drop_time = 0;
                feed->logged = BACKLOG_LOSS_NONE;
        }
}

static void feed_put_record(EventPipeFeed *feed, Record *record)
{
        /* More records of one time would keep the daemon from other clients: after this batch, the
         * daemon drops the rest as duplicates. */
        const bool is_full = ingest_client_batch(feed->client)->len > INGEST_CLIENT_MAX_SAME;

        if (feed->took)
                feed->took(feed->took_data, record);
        if (is_full)
                feed_lose(feed, record->time, record->time, GAP_COUNT_UNKNOWN);
        if (is_full || ingest_client_is_due(feed->client, (int64_t)record->time)) {
                feed_commit(feed);
                feed_check_room(feed, record->time);
        }
        if (feed->drop_time) {
                feed->n_dropped++;
                return;
        }
        record->process = feed->target.process;
        feed->last = record->time;
        feed->n_in_batch++;
        if (ingest_client_put_record(feed->client, feed->stream, record, (int64_t)record->time) ==
            INGEST_PUT_TOO_LARGE)
                feed_lose(feed, record->time, record->time, 1);
}

/* Merging */

static bool feed_next_listed(EventPipeFeed *feed)
{
        StreamGap gap;
        NettraceItem item;

        while (!feed->has_listed && feed->listing.reader) {
                item = nettrace_reader_next(feed->listing.reader, &feed->listed, &gap);
                if (item == NETTRACE_ITEM_GAP)
                        feed_put_gap(feed, &gap);
                else if (item == NETTRACE_ITEM_RECORD)
                        feed->has_listed = true;
                else
                        feed_source_clear(&feed->listing);
        }
        return feed->has_listed;
}

/* Takes the listing's records before TIME. */
static void feed_take_listed(EventPipeFeed *feed, uint64_t time)
{
        while (feed_next_listed(feed) && feed->listed.time < time) {
                feed_put_record(feed, &feed->listed);
                feed->has_listed = false;
        }
}

static void feed_put_report(EventPipeFeed *feed)
{
        FeederReport report;

        nettrace_reader_report(feed->session.reader, &report);
        if (report.decode_errors == feed->report.decode_errors &&
            report.unknown_events == feed->report.unknown_events &&
            report.later_events == feed->report.later_events)
                return;
        feed->report = report;
        ingest_put_report(ingest_client_batch(feed->client), &report);
}

/* All records before TIME are in. So the daemon knows that unsent records of earlier workers are
 * lost. */
static void feed_put_progress(EventPipeFeed *feed, uint64_t time)
{
        GByteArray *batch = ingest_client_batch(feed->client);

        ingest_put_progress(batch, feed->stream->number, time);
        ingest_put_progress(batch, INGEST_ALL_STREAMS,
                            (uint64_t)((int64_t)time + feed->target.clock_offset));
}

/* Takes the records whose order is certain. */
static void feed_take(EventPipeFeed *feed)
{
        NettraceItem item;
        StreamGap gap;
        Record record;
        uint64_t horizon;

        if (feed->is_listing)
                return;
        while ((item = nettrace_reader_next(feed->session.reader, &record, &gap)) !=
               NETTRACE_ITEM_NONE) {
                if (item == NETTRACE_ITEM_GAP) {
                        feed_put_gap(feed, &gap);
                        continue;
                }
                feed_take_listed(feed, record.time);
                feed_put_record(feed, &record);
        }
        horizon = nettrace_reader_horizon(feed->session.reader);
        feed_take_listed(feed, horizon);
        feed_check_room(feed, horizon);
        if (horizon <= feed->horizon)
                return;
        feed->horizon = horizon;
        if (feed->drop_time)
                return;
        feed_put_report(feed);
        feed_put_progress(feed, horizon);
        feed_commit(feed);
}

static void record_set_number(Record *record, FieldName name, unsigned value)
{
        record->values[event_field(record->event, name)].u = value;
}

void eventpipe_feed_put_runtime(EventPipeFeed *feed, const char *version, const char *command)
{
        Record record = {.event = event_by_name("DotNETRuntimeRundown:RuntimeInformationDCStart"),
                         .time = feed->last};
        static const uint8_t NO_GUID[16];
        Value *text = &record.values[event_field(record.event, FIELD_CommandLine)];
        Value *guid = &record.values[event_field(record.event, FIELD_ComObjectGuid)];
        unsigned major = 0, minor = 0, build = 0;

        if (sscanf(version, "%u.%u.%u", &major, &minor, &build) != 3)
                return;
        record_set_number(&record, FIELD_BclMajorVersion, major);
        record_set_number(&record, FIELD_BclMinorVersion, minor);
        record_set_number(&record, FIELD_BclBuildNumber, build);
        guid->data = NO_GUID;
        if (command)
                *text = (Value){.data = (const uint8_t *)command, .n = (uint32_t)strlen(command)};
        feed_put_record(feed, &record);
        feed_put_progress(feed, feed->last);
        feed_commit(feed);
}

bool eventpipe_feed_find_limits(BacklogLimits *ret_limits, GError **error)
{
        *ret_limits = FEED_LIMITS;
        return spill_size_find(FEED_LIMIT_VARIABLE, &ret_limits->file, error);
}

EventPipeFeed *eventpipe_feed_new(const char *ingest, const FeedTarget *target,
                                  const BacklogLimits *limits, uint64_t since)
{
        g_autoptr(StreamIdentity) identity = feed_identity_new(target, since);
        EventPipeFeed *feed = g_new0(EventPipeFeed, 1);

        feed->target = *target;
        feed->ingest = g_strdup(ingest);
        feed->session.reader = nettrace_reader_new(EVENT_USE_CODE_MAPS);
        nettrace_reader_limit(feed->session.reader, FEED_MAX_QUEUED);
        nettrace_reader_set_ahead(feed->session.reader, target->clock_ahead);
        feed->uplink =
                ingest_uplink_new("clrsym-holder " CLRSYM_VERSION, /* keeps_batches= */ true);
        feed->client = ingest_uplink_client(feed->uplink);
        feed->stream = ingest_client_open(feed->client, identity, /* data= */ NULL);
        feed->backlog = backlog_new(feed->client, limits);
        feed->horizon = feed->last = feed->committed = since;
        feed_put_progress(feed, since);
        feed_commit(feed);
        return feed;
}

void eventpipe_feed_watch(EventPipeFeed *feed, void (*took)(void *data, const Record *record),
                          void *data)
{
        feed->took = took;
        feed->took_data = data;
}

/* TROUBLE is taken over. */
static void feed_set_trouble(EventPipeFeed *feed, char *trouble)
{
        g_free(feed->trouble);
        feed->trouble = trouble;
}

/* REASON: why the connection is closed. */
static void feed_hang_up(EventPipeFeed *feed, const char *reason)
{
        feed_set_trouble(feed, g_strdup_printf("the daemon at %s: %s", feed->ingest, reason));
        feed->is_greeted = false;
        ingest_uplink_disconnect(feed->uplink);
        feed->next_try = g_get_monotonic_time() + 1000 * (gint64)backoff_fail(&feed->backoff, 0);
}

void eventpipe_feed_free(EventPipeFeed *feed)
{
        if (!feed)
                return;
        feed_hang_up(feed, "the session has ended");
        feed_source_clear(&feed->session);
        feed_source_clear(&feed->listing);
        backlog_free(feed->backlog);
        ingest_uplink_free(feed->uplink);
        g_free(feed->trouble);
        g_free(feed->ingest);
        g_free(feed);
}

/* Memory of records that were pushed and not taken, in bytes. */
static uint64_t feed_n_waiting(const EventPipeFeed *feed)
{
        const NettraceReader *listing = feed->listing.reader;

        return nettrace_reader_n_bytes(feed->session.reader) +
               (listing ? nettrace_reader_n_bytes(listing) : 0);
}

/* Gives up the listing; the session continues. */
static void feed_give_up_listing(EventPipeFeed *feed, WorkerRoom room)
{
        static const char *const REASONS[] = {
                [WORKER_ROOM] = "192 MiB of events wait for its end",
                [WORKER_TOTAL_FULL] = "512 MiB of events of all attached processes wait in memory",
                [WORKER_USER_FULL] = "256 MiB of events of this user's processes wait in memory",
        };

        g_clear_pointer(&feed->listing.reader, nettrace_reader_free);
        if (!feed->listing.error)
                g_set_error(&feed->listing.error, ATTACH_ERROR, ATTACH_ERROR_BROKEN,
                            "its rundown was abandoned: %s. Attach the process again when it emits "
                            "fewer events",
                            REASONS[room]);
        feed->has_listed = false;
        feed->is_listing = false;
        feed_take(feed);
}

/* Limits the waiting bytes, whatever the target sends. */
static void feed_check_waiting(EventPipeFeed *feed)
{
        const uint64_t n = feed_n_waiting(feed);
        WorkerRoom room = WORKER_ROOM;

        if (n > feed->n_waiting)
                room = worker_share_room(feed->share, WORKER_KEEPS_MEMORY, n - feed->n_waiting);
        if ((n > FEED_MAX_WAITING || room != WORKER_ROOM) && feed->listing.reader)
                feed_give_up_listing(feed, room);
        feed->n_waiting = feed_n_waiting(feed);
        worker_share_set(feed->share, WORKER_KEEPS_MEMORY, feed->n_waiting);
}

void eventpipe_feed_push(EventPipeFeed *feed, const uint8_t *bytes, size_t n)
{
        feed_source_push(&feed->session, bytes, n);
        feed_take(feed);
        feed_check_waiting(feed);
}

void eventpipe_feed_begin_listing(EventPipeFeed *feed)
{
        /* A previous listing that was not sent yet is outdated. */
        feed_source_clear(&feed->listing);
        feed->has_listed = false;
        feed->listing.reader = nettrace_reader_new(EVENT_USE_CODE_MAPS);
        nettrace_reader_set_ahead(feed->listing.reader, feed->target.clock_ahead);
        feed->is_listing = true;
}

void eventpipe_feed_push_listing(EventPipeFeed *feed, const uint8_t *bytes, size_t n)
{
        feed_source_push(&feed->listing, bytes, n);
        feed_check_waiting(feed);
}

bool eventpipe_feed_end_listing(EventPipeFeed *feed, bool is_whole)
{
        FeedSource *listing = &feed->listing;

        feed->is_listing = false;
        is_whole = is_whole && listing->reader && !listing->error &&
                   nettrace_reader_is_complete(listing->reader);
        if (is_whole)
                nettrace_reader_finish(listing->reader);
        else
                g_clear_pointer(&listing->reader, nettrace_reader_free);
        feed_take(feed);
        feed_check_waiting(feed);
        return is_whole;
}

const GError *eventpipe_feed_listing_error(const EventPipeFeed *feed)
{
        return feed->listing.error;
}

const GError *eventpipe_feed_error(const EventPipeFeed *feed)
{
        return feed->session.error;
}

uint64_t eventpipe_feed_horizon(const EventPipeFeed *feed)
{
        return feed->horizon;
}

uint64_t eventpipe_feed_last(const EventPipeFeed *feed)
{
        return feed->last;
}

uint64_t eventpipe_feed_waiting(const EventPipeFeed *feed)
{
        return feed->session.reader ? nettrace_reader_waiting(feed->session.reader) : 0;
}

/* The daemon */

static void feed_connect(EventPipeFeed *feed)
{
        const int r = ingest_uplink_connect(feed->uplink, feed->ingest, /* wait_ms= */ 0);

        if (r == 0)
                return;
        feed_set_trouble(
                feed, g_strdup_printf("the daemon at %s: %s", feed->ingest, unix_socket_reason(r)));
        feed->next_try = g_get_monotonic_time() + 1000 * (gint64)backoff_fail(&feed->backoff, 0);
}

static void feed_take_watermark(EventPipeFeed *feed, uint64_t watermark)
{
        feed->is_forgotten |= watermark < feed->acknowledged;
        feed->acknowledged = watermark;
}

bool eventpipe_feed_take_forgotten(EventPipeFeed *feed)
{
        const bool is_forgotten = feed->is_forgotten;

        feed->is_forgotten = false;
        return is_forgotten;
}

/* False: the daemon speaks another protocol, or refuses. */
static bool feed_take_events(EventPipeFeed *feed)
{
        IngestClientEvent event;
        IngestStream *stream;

        while ((event = ingest_client_next(feed->client, &stream)) != INGEST_CLIENT_NOTHING) {
                if (event == INGEST_CLIENT_BROKEN)
                        return false;
                if (event == INGEST_CLIENT_GREETED)
                        feed->is_greeted = true;
                if (event == INGEST_CLIENT_ACK)
                        feed_take_watermark(feed, stream->watermark);
                if (event != INGEST_CLIENT_COMMITTED)
                        continue;
                backlog_acknowledged(feed->backlog);
                backoff_reset(&feed->backoff);
        }
        return true;
}

/* False: the daemon closed the connection. */
static bool feed_receive(EventPipeFeed *feed)
{
        IngestUplinkStatus status;

        while ((status = ingest_uplink_receive(feed->uplink)) == INGEST_UPLINK_RECEIVED)
                if (!feed_take_events(feed))
                        return false;
        return status == INGEST_UPLINK_NOTHING;
}

/* Reports at once, because with later events the daemon takes the time in between for complete. */
static void feed_report_lost(EventPipeFeed *feed, uint64_t begin, uint64_t end)
{
        const StreamGap gap = {GAP_EVENTS, begin, MAX(end, begin + 1), GAP_COUNT_UNKNOWN};
        g_autoptr(GByteArray) frames = g_byte_array_new();

        ingest_put_gap(frames, feed->stream->number, &gap);
        backlog_commit_frames(feed->backlog, frames, end);
}

/* Batches in the file follow when the daemon has acknowledged earlier ones. */
static void feed_move(EventPipeFeed *feed)
{
        uint64_t begin, end;
        BacklogMove move;

        while ((move = backlog_move(feed->backlog, &begin, &end)) != BACKLOG_MOVE_NONE)
                if (move == BACKLOG_MOVE_LOST)
                        feed_report_lost(feed, begin, end);
}

int eventpipe_feed_poll(const EventPipeFeed *feed, struct pollfd *ret_fd)
{
        gint64 left;

        *ret_fd = ingest_uplink_poll(feed->uplink);
        if (ingest_uplink_is_connected(feed->uplink))
                return -1;
        left = (feed->next_try - g_get_monotonic_time() + 999) / 1000;
        return (int)CLAMP(left, 0, BACKOFF_MOST_MS);
}

void eventpipe_feed_run(EventPipeFeed *feed)
{
        if (!ingest_uplink_is_connected(feed->uplink) && g_get_monotonic_time() >= feed->next_try)
                feed_connect(feed);
        if (!ingest_uplink_is_connected(feed->uplink))
                return;
        if (!feed_receive(feed)) {
                feed_hang_up(feed, ingest_client_state(feed->client) == INGEST_CLIENT_FAILED
                                           ? ingest_client_reason(feed->client)
                                           : "it has disconnected");
                return;
        }
        feed_move(feed);
        ingest_uplink_send(feed->uplink);
        if (feed->is_greeted)
                feed_set_trouble(feed, NULL);
}

void eventpipe_feed_set_share(EventPipeFeed *feed, WorkerShare *share)
{
        feed->share = share;
        backlog_set_share(feed->backlog, share);
}

const char *eventpipe_feed_trouble(const EventPipeFeed *feed)
{
        return feed->trouble;
}

bool eventpipe_feed_is_greeted(const EventPipeFeed *feed)
{
        return feed->is_greeted;
}

uint64_t eventpipe_feed_n_committed(const EventPipeFeed *feed)
{
        return backlog_n_committed(feed->backlog);
}

bool eventpipe_feed_has(const EventPipeFeed *feed, uint64_t n)
{
        return backlog_n_acknowledged(feed->backlog) >= n;
}

/* The last batch needs no room, because the file is empty now. */
static void feed_close(EventPipeFeed *feed)
{
        GByteArray *batch = ingest_client_batch(feed->client);
        g_autoptr(GByteArray) frames = g_byte_array_new();

        if (feed->drop_time)
                feed_lose(feed, feed->drop_time, MAX(feed->horizon, feed->drop_time),
                          feed->n_dropped);
        feed->drop_time = 0;
        ingest_put_stream_close(batch, feed->stream->number);
        g_byte_array_append(frames, batch->data, batch->len);
        ingest_client_drop_batch(feed->client);
        backlog_commit_frames(feed->backlog, frames, feed->last);
}

void eventpipe_feed_finish(EventPipeFeed *feed, gint64 limit)
{
        const gint64 deadline = g_get_monotonic_time() + limit;
        bool is_closed = false;
        gint64 left;

        if (feed->is_listing)
                eventpipe_feed_end_listing(feed, false);
        nettrace_reader_finish(feed->session.reader);
        feed_take(feed);
        feed_take_listed(feed, UINT64_MAX);
        feed_commit(feed);
        while ((left = deadline - g_get_monotonic_time()) > 0) {
                struct pollfd fd;
                int ms;

                if (!is_closed && backlog_is_sent(feed->backlog)) {
                        feed_close(feed);
                        is_closed = true;
                        eventpipe_feed_run(feed);
                }
                if (is_closed && ingest_client_n_in_flight(feed->client) == 0)
                        break;
                ms = eventpipe_feed_poll(feed, &fd);
                left = (left + 999) / 1000;
                poll(&fd, 1, ms < 0 ? (int)left : (int)MIN(left, ms));
                eventpipe_feed_run(feed);
        }
}
