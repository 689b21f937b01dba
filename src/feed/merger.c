/* SPDX-License-Identifier: MIT */
#include "feed/merger.h"

#include "feed/daemon-link.h"
#include "feed/reorder.h"

#include <string.h>

struct Merger {
        StreamTable *table; /* borrowed */
        const MergerCalls *calls;
        void *data;
        DaemonLink *link;      /* owned */
        ReorderBuffer reorder; /* frames from disk that are still to be sent */
        GQueue *commits;       /* borrowed Intakes that wait for COMMITTED; NULL: none does */
        GPtrArray *intakes;    /* borrowed */
        uint64_t n_held;       /* streams that were held so far */
        uint64_t n_reported;   /* of them, those that calls->held knows of */
        uint64_t n_live;       /* live readers so far */
        FeederReport report;   /* of the readers that were removed */
};

static void merger_on_lost(void *data, const char *reason)
{
        Merger *merger = data;

        merger->calls->lost(merger->data, reason);
}

static void merger_on_committed(void *data)
{
        Merger *merger = data;
        Intake *intake = g_queue_pop_head(merger->commits);

        if (intake)
                intake_acknowledge(intake);
}

static void merger_on_credit(void *data, bool may_go)
{
        Merger *merger = data;
        guint i;

        for (i = 0; i < merger->intakes->len; i++)
                intake_set_credit(merger->intakes->pdata[i], may_go);
}

/* Answers each STREAM_OPEN of a reader that can be answered by now. */
static void merger_answer_opens(Merger *merger, Intake *intake)
{
        guint i;

        for (i = 0; i < intake->streams->len; i++) {
                const IntakeStream *own = intake_stream(intake, i);
                FeedStream *stream = own->stream;

                if (own->state != INTAKE_STREAM_WAITING || own->held)
                        continue;
                /* It was closed while it was held. */
                if (stream->state == STREAM_WHOLE && daemon_link_open(merger->link, stream))
                        stream->ended = 0;
                if (stream->state != STREAM_KNOWN && stream->state != STREAM_LIVE)
                        continue;
                if (intake->mode == INTAKE_LIVE)
                        stream->state = STREAM_LIVE;
                intake_answer(intake, i, MAX(stream->watermark, stream->taken));
        }
        daemon_link_flush(merger->link);
}

static void merger_on_progressed(void *data)
{
        Merger *merger = data;
        guint i;

        for (i = 0; i < merger->intakes->len; i++)
                merger_answer_opens(merger, merger->intakes->pdata[i]);
        merger->calls->known(merger->data);
}

static const DaemonLinkCalls LINK_CALLS = {
        .lost = merger_on_lost,
        .committed = merger_on_committed,
        .credit = merger_on_credit,
        .progressed = merger_on_progressed,
};

Merger *merger_new(StreamTable *table, const MergerCalls *calls, void *data)
{
        Merger *merger = g_new0(Merger, 1);

        merger->table = table;
        merger->calls = calls;
        merger->data = data;
        merger->link = daemon_link_new(&LINK_CALLS, merger);
        reorder_init(&merger->reorder);
        merger->commits = g_queue_new();
        merger->intakes = g_ptr_array_new();
        return merger;
}

void merger_free(Merger *merger)
{
        if (!merger)
                return;
        merger_disconnect(merger);
        daemon_link_free(merger->link);
        reorder_deinit(&merger->reorder);
        g_queue_free(merger->commits);
        g_ptr_array_unref(merger->intakes);
        g_free(merger);
}

bool merger_connect(Merger *merger, const char *path, GError **error)
{
        GHashTableIter iter;
        void *value;

        if (!daemon_link_connect(merger->link, path, error))
                return false;
        g_hash_table_iter_init(&iter, merger->table->streams);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                FeedStream *stream = value;

                if (stream->identity && !stream->ended && !daemon_link_open(merger->link, stream))
                        break;
        }
        daemon_link_flush(merger->link);
        return true;
}

void merger_disconnect(Merger *merger)
{
        daemon_link_disconnect(merger->link);
        g_queue_clear(merger->commits);
        merger->report = (FeederReport){0};
        reorder_clear(&merger->reorder);
        stream_table_forget_daemon(merger->table);
}

bool merger_is_ready(const Merger *merger)
{
        return daemon_link_is_ready(merger->link);
}

unsigned merger_n_in_flight(const Merger *merger)
{
        return daemon_link_n_in_flight(merger->link);
}

uint64_t merger_last_held(const Merger *merger)
{
        return merger->n_held;
}

uint64_t merger_live_number(const Merger *merger)
{
        return merger->n_live;
}

/* Batches */

/* Streams that are over are not open any more. */
static void merger_drop_whole(Merger *merger)
{
        GHashTableIter iter;
        void *value;

        g_hash_table_iter_init(&iter, merger->table->streams);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                FeedStream *stream = value;

                if (stream->state == STREAM_WHOLE)
                        stream->number = FEED_STREAM_NO_NUMBER;
        }
}

/* Sends BATCH, and empties it. INTAKE waits for it; NULL: none does. */
static void merger_commit(Merger *merger, Intake *intake, GByteArray *batch)
{
        g_queue_push_tail(merger->commits, intake);
        daemon_link_commit(merger->link, batch);
        g_byte_array_set_size(batch, 0);
        merger_drop_whole(merger);
}

static void merger_put_gap(GByteArray *out, const FeedStream *stream, uint64_t begin, uint64_t end)
{
        const StreamGap gap = {
                .kind = GAP_EVENTS,
                .begin = begin,
                .end = end,
                .count = GAP_COUNT_UNKNOWN,
        };

        ingest_put_gap(out, stream->number, &gap);
}

/* TIME, on the clock of a stream, in ns since 1970. */
static int64_t stream_order(const FeedStream *stream, uint64_t time)
{
        int64_t order;

        return __builtin_add_overflow((int64_t)MIN(time, INT64_MAX), stream->identity->clock_offset,
                                      &order)
                       ? INT64_MAX
                       : order;
}

/* The time of a frame to the daemon, in ns since 1970. False: it has none. */
static bool merger_frame_order(const Merger *merger, const IngestFrame *frame, int64_t *ret_order)
{
        const FeedStream *stream;
        uint64_t time;
        uint32_t number;

        if (!ingest_frame_time(frame, &time) || !ingest_frame_stream(frame, &number))
                return false;
        stream = daemon_link_stream(merger->link, number);
        if (!stream)
                return false;
        *ret_order = stream_order(stream, time);
        return *ret_order < INT64_MAX;
}

/*
 * Calls EACH for the frames of a reader's batch, with their order. A frame without a time has that
 * of the frame before it.
 */
static void merger_each_frame(Merger *merger, const GByteArray *batch,
                              void (*each)(Merger *merger, int64_t order, const uint8_t *frame,
                                           size_t n, void *data),
                              void *data)
{
        int64_t last = INT64_MIN, order;
        size_t at = 0;

        while (at < batch->len) {
                IngestFrame frame;
                size_t n = (size_t)ingest_frame_next(batch->data + at, batch->len - at, &frame);

                if (merger_frame_order(merger, &frame, &order))
                        last = MAX(last, order);
                each(merger, last, batch->data + at, n, data);
                at += n;
        }
}

static void merger_hold_frame(Merger *merger, int64_t order, const uint8_t *frame, size_t n,
                              void *data)
{
        reorder_add(&merger->reorder, order, frame, n);
}

static void merger_append_in_order(Merger *merger, int64_t order, const uint8_t *frame, size_t n,
                                   void *data)
{
        if (order != INT64_MIN)
                reorder_take(&merger->reorder, order - 1, data);
        g_byte_array_append(data, frame, (guint)n);
}

/* The live reader has everything up to its time: what is older goes first. */
static void merger_insert_held(Merger *merger, Intake *intake)
{
        g_autoptr(GByteArray) merged = g_byte_array_new();

        if (reorder_is_empty(&merger->reorder))
                return;
        merger_each_frame(merger, intake->batch, merger_append_in_order, merged);
        if (intake->now)
                reorder_take(&merger->reorder, (int64_t)intake->now, merged);
        g_byte_array_set_size(intake->batch, 0);
        g_byte_array_append(intake->batch, merged->data, merged->len);
}

static void merger_settle_to(Merger *merger, int64_t limit)
{
        g_autoptr(GByteArray) batch = g_byte_array_new();

        reorder_take(&merger->reorder, limit, batch);
        if (batch->len)
                merger_commit(merger, NULL, batch);
}

void merger_settle(Merger *merger, uint64_t time)
{
        int64_t limit = INT64_MAX;
        GHashTableIter iter;
        void *value;

        if (reorder_is_empty(&merger->reorder))
                return;
        g_hash_table_iter_init(&iter, merger->table->streams);
        while (time < UINT64_MAX && g_hash_table_iter_next(&iter, NULL, &value)) {
                const FeedStream *stream = value;

                if (stream->number != FEED_STREAM_NO_NUMBER)
                        limit = MIN(limit, stream_order(stream, time));
        }
        merger_settle_to(merger, limit);
}

/* Sends all that was read of STREAM from disk; what other streams have later goes on waiting. */
static void merger_settle_stream(Merger *merger, const FeedStream *stream)
{
        if (!reorder_is_empty(&merger->reorder) && stream->identity)
                merger_settle_to(merger, stream_order(stream, stream->disk_end));
}

void merger_close_stream(Merger *merger, FeedStream *stream)
{
        g_autoptr(GByteArray) batch = g_byte_array_new();

        if (stream_is_complete(stream))
                return;
        merger_settle_stream(merger, stream);
        stream_end(stream);
        if (stream->number == FEED_STREAM_NO_NUMBER)
                return;
        ingest_put_stream_close(batch, stream->number);
        merger_commit(merger, NULL, batch);
}

void merger_close_ended(Merger *merger)
{
        g_autoptr(GByteArray) batch = g_byte_array_new();
        GHashTableIter iter;
        void *value;

        g_hash_table_iter_init(&iter, merger->table->streams);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                FeedStream *stream = value;

                /* What is read of it from disk at the moment is not all sent. */
                if (stream->state != STREAM_KNOWN || !stream->ended || stream->progress ||
                    stream->watermark < stream->ended)
                        continue;
                stream_end(stream);
                ingest_put_stream_close(batch, stream->number);
        }
        if (batch->len)
                merger_commit(merger, NULL, batch);
}

void merger_give_up(Merger *merger, FeedStream *stream, uint64_t time)
{
        g_autoptr(GByteArray) batch = g_byte_array_new();

        stream->disk_end = MAX(stream->disk_end, time);
        merger_settle_stream(merger, stream);
        if (stream->number == FEED_STREAM_NO_NUMBER || stream->progress >= time)
                return;
        merger_put_gap(batch, stream, stream->progress ? stream->progress : 1, time);
        stream->progress = time;
        merger_commit(merger, NULL, batch);
}

/* Readers */

static bool merger_on_open(void *data, Intake *intake, const StreamIdentity *identity,
                           IntakeStream *own)
{
        Merger *merger = data;
        StreamKey key = {.class_id = identity->class_id, .stream_id = identity->stream_id};

        memcpy(key.uuid, identity->trace_uuid, sizeof(key.uuid));
        own->stream = stream_table_get(merger->table, &key);
        stream_identify(own->stream, identity);
        if (own->stream->number == FEED_STREAM_NO_NUMBER) {
                if (!daemon_link_open(merger->link, own->stream))
                        return false;
                daemon_link_flush(merger->link);
        }
        if (intake->mode == INTAKE_LIVE) {
                own->stream->ended = 0;
                own->held = ++merger->n_held;
        }
        return true;
}

/*
 * A reader begins with a stream at TIME. What is missing between that and what was fed before is a
 * gap; also what the same buffers may have had since their last session.
 */
static void merger_on_begin(void *data, Intake *intake, FeedStream *stream, uint64_t time)
{
        const Merger *merger = data;
        uint64_t fed = stream->progress;

        if (!fed && !stream->watermark)
                fed = stream->has_unknown_past ? 1 : stream_table_earlier(merger->table, stream);
        if (fed && fed < time)
                merger_put_gap(intake->batch, stream, fed, time - 1);
}

/* The live reader has come to a time: so have the streams of which it has nothing. */
static void merger_put_quiet_progress(Merger *merger, Intake *intake)
{
        GHashTableIter iter;
        void *value;

        g_hash_table_iter_init(&iter, merger->table->streams);
        while (intake->now && g_hash_table_iter_next(&iter, NULL, &value)) {
                FeedStream *stream = value;
                int64_t time;

                if (stream->number == FEED_STREAM_NO_NUMBER || stream_is_complete(stream) ||
                    !stream->progress || stream->caught_up != merger->n_live ||
                    __builtin_sub_overflow((int64_t)intake->now, stream->identity->clock_offset,
                                           &time) ||
                    time <= 0 || (uint64_t)time <= stream->progress)
                        continue;
                stream->progress = (uint64_t)time;
                ingest_put_progress(intake->batch, stream->number, stream->progress);
        }
}

/* Notes how far a batch brings its streams. */
static void merger_apply_progress(Merger *merger, Intake *intake)
{
        guint i;

        for (i = 0; i < intake->streams->len; i++) {
                IntakeStream *own = intake_stream(intake, i);
                FeedStream *stream = own->stream;

                stream->progress = MAX(stream->progress, own->progress);
                stream->taken = MAX(stream->taken, own->taken);
                own->progress = own->taken = 0;
                if (own->state != INTAKE_STREAM_CLOSED || stream->state != STREAM_LIVE)
                        continue;
                /* What was read of it from disk cannot follow its end. */
                merger_settle_stream(merger, stream);
                stream_end(stream);
        }
}

static void merger_add_report(FeederReport *sum, const FeederReport *report)
{
        sum->events += report->events;
        sum->dotnet_events += report->dotnet_events;
        sum->unknown_events += report->unknown_events;
        sum->decode_errors += report->decode_errors;
}

static void merger_commit_live(Merger *merger, Intake *intake)
{
        FeederReport sum = merger->report;
        guint i;

        merger_apply_progress(merger, intake);
        merger_insert_held(merger, intake);
        merger_put_quiet_progress(merger, intake);
        for (i = 0; i < merger->intakes->len; i++)
                merger_add_report(&sum, &((const Intake *)merger->intakes->pdata[i])->report);
        ingest_put_report(intake->batch, &sum);
        merger_commit(merger, intake, intake->batch);
}

static void merger_on_commit(void *data, Intake *intake)
{
        Merger *merger = data;

        switch (intake->mode) {
        case INTAKE_LIVE:
                merger_commit_live(merger, intake);
                break;
        case INTAKE_DISK:
                /* It waits in the reorder buffer; its reader need not wait. */
                merger_apply_progress(merger, intake);
                merger_each_frame(merger, intake->batch, merger_hold_frame, NULL);
                g_byte_array_set_size(intake->batch, 0);
                intake_acknowledge(intake);
                break;
        case INTAKE_PROBE:
                g_byte_array_set_size(intake->batch, 0);
                break;
        }
}

static void merger_on_idle(void *data, Intake *intake)
{
        Merger *merger = data;

        merger_answer_opens(merger, intake);
        if (merger->n_reported == merger->n_held)
                return;
        merger->n_reported = merger->n_held;
        merger->calls->held(merger->data);
}

static void merger_on_ended(void *data, Intake *intake, bool is_broken)
{
        Merger *merger = data;

        merger->calls->ended(merger->data, intake, is_broken);
}

static const IntakeCalls INTAKE_CALLS = {
        .open = merger_on_open,
        .begin = merger_on_begin,
        .commit = merger_on_commit,
        .idle = merger_on_idle,
        .ended = merger_on_ended,
};

Intake *merger_add_reader(Merger *merger, IntakeMode mode, int fd)
{
        Intake *intake =
                intake_new(mode, fd, daemon_link_may_go(merger->link), &INTAKE_CALLS, merger);

        g_ptr_array_add(merger->intakes, intake);
        if (mode == INTAKE_LIVE)
                merger->n_live++;
        return intake;
}

void merger_remove_reader(Merger *merger, Intake *intake)
{
        GList *link;
        guint i;

        if (!intake)
                return;
        for (link = merger->commits->head; link; link = link->next)
                if (link->data == intake)
                        link->data = NULL;
        for (i = 0; intake->mode == INTAKE_LIVE && i < intake->streams->len; i++) {
                FeedStream *stream = intake_stream(intake, i)->stream;

                if (stream->state == STREAM_LIVE)
                        stream->state = STREAM_KNOWN;
        }
        merger_add_report(&merger->report, &intake->report);
        g_ptr_array_remove(merger->intakes, intake);
        intake_free(intake);
}

unsigned merger_n_held(const Merger *merger)
{
        unsigned n = 0;
        guint i, j;

        for (i = 0; i < merger->intakes->len; i++) {
                const Intake *intake = merger->intakes->pdata[i];

                for (j = 0; j < intake->streams->len; j++)
                        n += intake_stream(intake, j)->held > 0;
        }
        return n;
}

void merger_release(Merger *merger, uint64_t last)
{
        guint i, j;

        for (i = 0; i < merger->intakes->len; i++) {
                Intake *intake = merger->intakes->pdata[i];

                for (j = 0; j < intake->streams->len; j++) {
                        IntakeStream *own = intake_stream(intake, j);

                        if (own->held <= last)
                                own->held = 0;
                }
                merger_answer_opens(merger, intake);
        }
}
