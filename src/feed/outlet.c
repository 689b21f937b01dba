/* SPDX-License-Identifier: MIT */
#include "feed/outlet.h"

#include "feed/reorder.h"
#include "wire/ingest-uplink.h"
#include "wire/program-names.h"

#include <string.h>

/* The daemon refuses a batch over INGEST_MAX_BATCH. */
#define LARGE_BATCH   (8u << 20)
#define LARGEST_BATCH (INGEST_MAX_BATCH / 2)

#define OUTLET_ERROR (g_quark_from_static_string("clrsym-feed"))

/*
 * Batches are not kept: after a loss of the connection everything is read again, from the watermark
 * that the daemon reports for each stream.
 */
struct Outlet {
        StreamTable *table; /* borrowed */
        const OutletCalls *calls;
        void *data;
        IngestUplink *uplink;  /* owned */
        IngestClient *client;  /* borrowed from the uplink */
        ReorderBuffer reorder; /* frames from disk that are not sent yet */
        ProgramNames programs; /* the names that were sent on this connection */
        GByteArray *frame;     /* owned: the present frame */
        GByteArray *batch;     /* owned: frames to send, in order */
        int64_t last_order;    /* time of the last frame in the batch */
        guint group;           /* where the frames of the last time begin in the batch */
        int64_t now;           /* the last progress of the live streams */
        FeederReport report, sent_report;
};

static void outlet_on_ack(const IngestStream *own)
{
        FeedStream *stream = own->data;

        if (stream->state == STREAM_ASKED)
                stream->state = STREAM_KNOWN;
        stream->watermark = MAX(stream->watermark, own->watermark);
}

static void outlet_on_received(void *data)
{
        Outlet *outlet = data;
        IngestClientEvent event;
        IngestStream *stream;

        do {
                event = ingest_client_next(outlet->client, &stream);
                if (event == INGEST_CLIENT_BROKEN) {
                        g_autofree char *reason = g_strdup(ingest_client_reason(outlet->client));

                        outlet->calls->lost(outlet->data, reason);
                        return;
                }
                if (event == INGEST_CLIENT_ACK)
                        outlet_on_ack(stream);
        } while (event != INGEST_CLIENT_NOTHING);
        outlet->calls->known(outlet->data);
}

static void outlet_on_gone(void *data)
{
        Outlet *outlet = data;

        outlet->calls->lost(outlet->data, "it has gone");
}

static const IngestUplinkCalls UPLINK_CALLS = {
        .received = outlet_on_received,
        .gone = outlet_on_gone,
};

Outlet *outlet_new(StreamTable *table, const OutletCalls *calls, void *data)
{
        Outlet *outlet = g_new0(Outlet, 1);

        outlet->table = table;
        outlet->calls = calls;
        outlet->data = data;
        outlet->uplink =
                ingest_uplink_new("clrsym feed " CLRSYM_VERSION, /* keeps_batches= */ false);
        outlet->client = ingest_uplink_client(outlet->uplink);
        outlet->frame = g_byte_array_new();
        outlet->batch = g_byte_array_new();
        outlet->last_order = outlet->now = INT64_MIN;
        reorder_init(&outlet->reorder);
        return outlet;
}

void outlet_free(Outlet *outlet)
{
        if (!outlet)
                return;
        outlet_disconnect(outlet);
        ingest_uplink_free(outlet->uplink);
        reorder_deinit(&outlet->reorder);
        g_byte_array_unref(outlet->frame);
        g_byte_array_unref(outlet->batch);
        g_free(outlet);
}

/* Opens the stream and asks for its watermark. False: too many streams are open. */
static bool outlet_ask(Outlet *outlet, FeedStream *stream)
{
        const IngestStream *own = ingest_client_open(outlet->client, stream->identity, stream);

        if (!own)
                return false;
        stream->number = own->number;
        stream->state = STREAM_ASKED;
        return true;
}

bool outlet_connect(Outlet *outlet, const char *path, GError **error)
{
        const int r = ingest_uplink_connect(outlet->uplink, path, /* wait_ms= */ 0);
        GHashTableIter iter;
        void *value;

        if (r < 0) {
                g_autofree char *message = ingest_uplink_explain(path, r, "--ingest-socket PATH");

                g_set_error_literal(error, OUTLET_ERROR, 0, message);
                return false;
        }
        ingest_uplink_watch(outlet->uplink, &UPLINK_CALLS, outlet);
        g_hash_table_iter_init(&iter, outlet->table->streams);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                FeedStream *stream = value;

                if (stream->identity && !stream->ended && !outlet_ask(outlet, stream))
                        break;
        }
        ingest_uplink_send(outlet->uplink);
        return true;
}

void outlet_disconnect(Outlet *outlet)
{
        ingest_uplink_disconnect(outlet->uplink);
        reorder_clear(&outlet->reorder);
        program_names_clear(&outlet->programs);
        g_byte_array_set_size(outlet->batch, 0);
        outlet->group = 0;
        outlet->last_order = outlet->now = INT64_MIN;
        outlet->sent_report = (FeederReport){0};
        stream_table_forget_daemon(outlet->table);
}

bool outlet_is_ready(const Outlet *outlet)
{
        return ingest_client_is_ready(outlet->client);
}

bool outlet_may_put(const Outlet *outlet)
{
        return ingest_client_may_send(outlet->client);
}

bool outlet_is_settled(const Outlet *outlet)
{
        return reorder_is_empty(&outlet->reorder) && outlet_n_in_flight(outlet) == 0;
}

unsigned outlet_n_in_flight(const Outlet *outlet)
{
        return ingest_client_n_in_flight(outlet->client);
}

bool outlet_open(Outlet *outlet, FeedStream *stream)
{
        if (stream->number == FEED_STREAM_NO_NUMBER && !outlet_ask(outlet, stream))
                return false;
        ingest_uplink_send(outlet->uplink);
        return true;
}

/* Batches */

/* Returns how many of N bytes of frames to send as a batch: all if they are few, else up to a frame
 * with a new time. */
static size_t batch_size(const uint8_t *frames, size_t n)
{
        uint64_t time = 0, last = 0;
        IngestFrame frame;
        size_t at = 0;

        if (n <= LARGE_BATCH)
                return n;
        while (at < n) {
                bool has_time;

                last = time;
                at += (size_t)ingest_frame_next(frames + at, n - at, &frame);
                has_time = ingest_frame_time(&frame, &time);
                if ((at > LARGE_BATCH && has_time && time != last) || at > LARGEST_BATCH)
                        break;
        }
        return at;
}

/* Sends N bytes of frames. */
static void outlet_send(Outlet *outlet, const uint8_t *frames, size_t n)
{
        while (n > 0) {
                size_t n_now = batch_size(frames, n);

                ingest_client_commit_frames(outlet->client, frames, n_now);
                ingest_uplink_send(outlet->uplink);
                frames += n_now;
                n -= n_now;
        }
}

/* Sends the first N bytes of the batch. */
static void outlet_commit(Outlet *outlet, guint n)
{
        outlet_send(outlet, outlet->batch->data, n);
        g_byte_array_remove_range(outlet->batch, 0, n);
        outlet->group = 0;
}

static void outlet_commit_all(Outlet *outlet)
{
        if (outlet->batch->len)
                outlet_commit(outlet, outlet->batch->len);
}

/* Begins frames of the time ORDER. A batch never ends between two records of equal time, because
 * the daemon drops what is at or below the time of a stream's last record. */
static void outlet_begin_order(Outlet *outlet, int64_t order)
{
        if (order <= outlet->last_order && outlet->batch->len)
                return;
        if (outlet->batch->len >= INGEST_CLIENT_BATCH_SIZE)
                outlet_commit(outlet, outlet->batch->len);
        outlet->group = outlet->batch->len;
        outlet->last_order = order;
}

/* Adds the present frame, at ORDER. */
static void outlet_put_frame(Outlet *outlet, OutletSource source, int64_t order, bool is_record)
{
        GByteArray *frame = outlet->frame;

        if (source == OUTLET_DISK) {
                reorder_add(&outlet->reorder, order, frame->data, frame->len);
        } else {
                if (!reorder_is_empty(&outlet->reorder) && order > INT64_MIN)
                        reorder_take(&outlet->reorder, order - 1, outlet->batch);
                if (is_record)
                        outlet_begin_order(outlet, order);
                g_byte_array_append(outlet->batch, frame->data, frame->len);
        }
        g_byte_array_set_size(frame, 0);
}

static void outlet_put_unknown_gap(Outlet *outlet, OutletSource source, FeedStream *stream,
                                   uint64_t begin, uint64_t end)
{
        const StreamGap gap = {
                .kind = GAP_EVENTS, .begin = begin, .end = end, .count = GAP_COUNT_UNKNOWN};

        outlet_put_gap(outlet, source, stream, &gap);
}

void outlet_begin(Outlet *outlet, OutletSource source, FeedStream *stream, uint64_t time)
{
        uint64_t fed = stream->progress;

        if (!fed && !stream->watermark)
                fed = stream->has_unknown_past ? 1 : stream_table_earlier(outlet->table, stream);
        if (fed && fed < time)
                outlet_put_unknown_gap(outlet, source, stream, fed, time - 1);
        outlet_put_progress(outlet, source, stream, time);
}

/*
 * True if the daemon accepts the record; it would close the connection of all streams if one frame
 * is malformed.
 */
static bool outlet_frame_is_valid(const Outlet *outlet)
{
        IngestFrame frame;
        uint32_t number;
        Record record;

        return ingest_frame_next(outlet->frame->data, outlet->frame->len, &frame) > 0 &&
               ingest_get_record(&frame, &number, &record) == 0;
}

/* Sends the name of a process's program, which the daemon accepts after an event of the process. */
static void outlet_put_program(Outlet *outlet, OutletSource source, FeedStream *stream,
                               const Record *record)
{
        if (!program_names_note(&outlet->programs, record))
                return;
        ingest_put_program(outlet->frame, stream->number, record);
        outlet_put_frame(outlet, source, stream_order(stream, record->time), true);
}

/* Counts N more bytes of a record of TIME. True: there are too many of that time, which is a gap
 * now. */
static bool outlet_is_crowded(Outlet *outlet, OutletSource source, FeedStream *stream,
                              uint64_t time, size_t n)
{
        const StreamGap gap = {
                .kind = GAP_EVENTS, .begin = time, .end = time, .count = GAP_COUNT_UNKNOWN};

        if (time != stream->taken)
                stream->n_same = 0;
        if (stream->n_same == SIZE_MAX)
                return true;
        stream->n_same += n;
        if (stream->n_same <= INGEST_CLIENT_MAX_SAME)
                return false;
        stream->n_same = SIZE_MAX;
        g_byte_array_set_size(outlet->frame, 0);
        outlet_put_gap(outlet, source, stream, &gap);
        return true;
}

bool outlet_put_record(Outlet *outlet, OutletSource source, FeedStream *stream,
                       const Record *record)
{
        const StreamGap gap = {
                .kind = GAP_EVENTS, .begin = record->time, .end = record->time, .count = 1};
        bool ok;

        if (record->time <= stream->watermark || stream->number == FEED_STREAM_NO_NUMBER)
                return true;
        ok = ingest_put_record(outlet->frame, stream->number, record) &&
             outlet_frame_is_valid(outlet);
        if (ok && outlet_is_crowded(outlet, source, stream, record->time, outlet->frame->len)) {
                g_byte_array_set_size(outlet->frame, 0);
                return true;
        }
        stream->taken = record->time;
        stream->progress = MAX(stream->progress, record->time);
        if (ok) {
                outlet_put_frame(outlet, source, stream_order(stream, record->time), true);
                outlet_put_program(outlet, source, stream, record);
        } else {
                g_byte_array_set_size(outlet->frame, 0);
                outlet_put_gap(outlet, source, stream, &gap);
        }
        return ok;
}

void outlet_put_gap(Outlet *outlet, OutletSource source, FeedStream *stream, const StreamGap *gap)
{
        StreamGap valid = *gap;

        if (stream->number == FEED_STREAM_NO_NUMBER)
                return;
        /* The clock of a damaged trace may go back. */
        if (gap->begin > gap->end)
                valid = (StreamGap){.kind = GAP_EVENTS,
                                    .begin = gap->end,
                                    .end = gap->begin,
                                    .count = GAP_COUNT_UNKNOWN};
        ingest_put_gap(outlet->frame, stream->number, &valid);
        outlet_put_frame(outlet, source, stream_order(stream, valid.begin), false);
}

void outlet_put_progress(Outlet *outlet, OutletSource source, FeedStream *stream, uint64_t time)
{
        if (stream->number == FEED_STREAM_NO_NUMBER || time < stream->progress)
                return;
        stream->progress = time;
        ingest_put_progress(outlet->frame, stream->number, time);
        outlet_put_frame(outlet, source, stream_order(stream, time), false);
}

void outlet_put_report(Outlet *outlet, const FeederReport *report)
{
        outlet->report = *report;
}

/* The live reader has come to time NOW: so have its streams, and streams without events. */
static void outlet_put_quiet_progress(Outlet *outlet, int64_t now, uint64_t live)
{
        GHashTableIter iter;
        void *value;

        g_hash_table_iter_init(&iter, outlet->table->streams);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                FeedStream *stream = value;
                bool is_quiet = stream->state == STREAM_KNOWN && stream->progress &&
                                stream->caught_up == live;
                int64_t time;

                if (stream->number == FEED_STREAM_NO_NUMBER ||
                    (stream->state != STREAM_LIVE && !is_quiet) || stream->is_late ||
                    __builtin_sub_overflow(now, stream->identity->clock_offset, &time) ||
                    time <= 0 || (uint64_t)time <= stream->progress)
                        continue;
                stream->progress = (uint64_t)time;
                ingest_put_progress(outlet->batch, stream->number, stream->progress);
        }
}

void outlet_settle_live(Outlet *outlet, int64_t now, uint64_t live)
{
        if (now == INT64_MAX || (now <= outlet->now && outlet->batch->len == 0))
                return;
        if (!reorder_is_empty(&outlet->reorder))
                reorder_take(&outlet->reorder, now - 1, outlet->batch);
        if (now <= outlet->last_order) {
                /* Other frames of the last time may follow. */
                if (outlet->group)
                        outlet_commit(outlet, outlet->group);
                return;
        }
        outlet->now = MAX(outlet->now, now);
        outlet_put_quiet_progress(outlet, now, live);
        if (memcmp(&outlet->report, &outlet->sent_report, sizeof(outlet->report)) != 0)
                ingest_put_report(outlet->batch, &outlet->report);
        outlet->sent_report = outlet->report;
        outlet_commit_all(outlet);
}

static void outlet_settle_disk_to(Outlet *outlet, int64_t limit)
{
        g_autoptr(GByteArray) batch = g_byte_array_new();

        reorder_take(&outlet->reorder, limit, batch);
        outlet_send(outlet, batch->data, batch->len);
}

void outlet_settle_disk(Outlet *outlet, uint64_t time)
{
        int64_t limit = INT64_MAX;
        GHashTableIter iter;
        void *value;

        if (reorder_is_empty(&outlet->reorder))
                return;
        g_hash_table_iter_init(&iter, outlet->table->streams);
        while (time < UINT64_MAX && g_hash_table_iter_next(&iter, NULL, &value)) {
                const FeedStream *stream = value;

                if (stream->number != FEED_STREAM_NO_NUMBER)
                        limit = MIN(limit, stream_order(stream, time));
        }
        outlet_settle_disk_to(outlet, limit);
}

/* Sends all frames of STREAM that were read; later frames of other streams still wait. */
static void outlet_settle_stream(Outlet *outlet, const FeedStream *stream)
{
        if (!reorder_is_empty(&outlet->reorder) && stream->identity)
                outlet_settle_disk_to(outlet, stream_order(stream, stream->disk_end));
        outlet_commit_all(outlet);
}

void outlet_close(Outlet *outlet, FeedStream *stream)
{
        g_autoptr(GByteArray) batch = g_byte_array_new();

        if (stream->state == STREAM_WHOLE)
                return;
        outlet_settle_stream(outlet, stream);
        stream_end(stream);
        if (stream->number == FEED_STREAM_NO_NUMBER)
                return;
        ingest_put_stream_close(batch, stream->number);
        outlet_send(outlet, batch->data, batch->len);
        stream->number = FEED_STREAM_NO_NUMBER;
}

void outlet_close_ended(Outlet *outlet)
{
        g_autoptr(GByteArray) batch = g_byte_array_new();
        GHashTableIter iter;
        void *value;

        g_hash_table_iter_init(&iter, outlet->table->streams);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                FeedStream *stream = value;

                /* Some frames that were read from disk are not sent yet. */
                if (stream->state != STREAM_KNOWN || !stream->ended || stream->progress ||
                    stream->watermark < stream->ended)
                        continue;
                stream_end(stream);
                ingest_put_stream_close(batch, stream->number);
                stream->number = FEED_STREAM_NO_NUMBER;
        }
        outlet_send(outlet, batch->data, batch->len);
}
