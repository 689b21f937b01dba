/* SPDX-License-Identifier: MIT */
#include "feed/merger.h"

#include "feed/channel.h"
#include "feed/tail.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define MERGER_ERROR (g_quark_from_static_string("clrsym-feed"))

/* A stream on a reader's connection. */
typedef struct IntakeStream {
        FeedStream *stream; /* borrowed from the table */
        uint64_t held;      /* its number among those that were held; 0: not held */
        uint64_t progress;  /* with the batch that is under way */
        uint64_t taken;     /* likewise */
        bool is_answered;
        bool has_begun; /* something with a time has come of it */
        bool is_closed;
} IntakeStream;

struct Intake {
        Merger *merger; /* borrowed */
        IntakeMode mode;
        Channel *channel;  /* owned */
        GArray *streams;   /* of IntakeStream, by its numbers */
        GByteArray *batch; /* owned: frames since the last COMMIT, as they go to the daemon */
        uint64_t now;      /* of every stream of the session, in ns since 1970; 0: not told */
        IngestReport report;
        bool is_greeted;
};

struct Merger {
        StreamTable *table; /* borrowed */
        const MergerCalls *calls;
        void *data;
        Channel *channel; /* owned: to the daemon; NULL: none */
        bool is_greeted;
        bool may_go;
        GPtrArray *open;    /* borrowed FeedStreams, by their numbers with the daemon */
        unsigned n_unknown; /* of them, whose watermark has not come */
        Tail tail;          /* what readers of disk have brought, and is still to be sent */
        GQueue *commits;    /* borrowed Intakes that wait for COMMITTED; NULL: nobody does */
        GPtrArray *intakes; /* borrowed */
        uint64_t n_held;
        uint64_t n_live;     /* live readers so far */
        IngestReport report; /* of the intakes that are gone */
};

static void on_daemon_input(void *data);
static void on_daemon_closed(void *data);
static void on_intake_input(void *data);
static void on_intake_closed(void *data);

static const ChannelCalls DAEMON_CALLS = {on_daemon_input, on_daemon_closed};
static const ChannelCalls INTAKE_CALLS = {on_intake_input, on_intake_closed};

Merger *merger_new(StreamTable *table, const MergerCalls *calls, void *data)
{
        Merger *merger = g_new0(Merger, 1);

        merger->table = table;
        merger->calls = calls;
        merger->data = data;
        tail_init(&merger->tail);
        merger->open = g_ptr_array_new();
        merger->commits = g_queue_new();
        merger->intakes = g_ptr_array_new();
        return merger;
}

void merger_free(Merger *merger)
{
        if (!merger)
                return;
        merger_disconnect(merger);
        tail_deinit(&merger->tail);
        g_ptr_array_unref(merger->open);
        g_queue_free(merger->commits);
        g_ptr_array_unref(merger->intakes);
        g_free(merger);
}

static GByteArray *to_daemon(Merger *merger)
{
        return channel_output(merger->channel);
}

/* Has the daemon open a stream, and tell its watermark. */
static void open_stream(Merger *merger, FeedStream *stream)
{
        stream->number = merger->open->len;
        stream->is_known = false;
        g_ptr_array_add(merger->open, stream);
        merger->n_unknown++;
        ingest_put_stream_open(to_daemon(merger), stream->number, stream->identity);
}

bool merger_connect(Merger *merger, const char *path, GError **error)
{
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        GHashTableIter iter;
        void *value;
        int fd;

        if (strlen(path) >= sizeof(address.sun_path)) {
                g_set_error(error, MERGER_ERROR, 0, "%s: longer than a socket's path can be", path);
                return false;
        }
        strcpy(address.sun_path, path);
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0) {
                g_set_error(error, MERGER_ERROR, 0,
                            "no daemon at %s (%s): start clrsymd, or give "
                            "--socket PATH",
                            path, g_strerror(errno));
                if (fd >= 0)
                        close(fd);
                return false;
        }
        merger->channel = channel_new(fd, &DAEMON_CALLS, merger);
        ingest_put_hello(to_daemon(merger), INGEST_VERSION, "clrsym feed " CLRSYM_VERSION);
        g_hash_table_iter_init(&iter, merger->table->streams);
        while (g_hash_table_iter_next(&iter, NULL, &value))
                if (((FeedStream *)value)->identity && merger->open->len < INGEST_MAX_STREAMS)
                        open_stream(merger, value);
        channel_flush(merger->channel);
        return true;
}

void merger_disconnect(Merger *merger)
{
        g_clear_pointer(&merger->channel, channel_free);
        merger->is_greeted = merger->may_go = false;
        g_ptr_array_set_size(merger->open, 0);
        merger->n_unknown = 0;
        g_queue_clear(merger->commits);
        merger->report = (IngestReport){0};
        tail_clear(&merger->tail);
        stream_table_forget_daemon(merger->table);
}

bool merger_is_ready(const Merger *merger)
{
        return merger->is_greeted && merger->n_unknown == 0;
}

unsigned merger_n_in_flight(const Merger *merger)
{
        return merger->commits->length;
}

uint64_t merger_last_held(const Merger *merger)
{
        return merger->n_held;
}

uint64_t merger_live_number(const Merger *merger)
{
        return merger->n_live;
}

/* Readers */

Intake *intake_new(Merger *merger, IntakeMode mode, int fd)
{
        Intake *intake = g_new0(Intake, 1);

        intake->merger = merger;
        intake->mode = mode;
        intake->streams = g_array_new(FALSE, TRUE, sizeof(IntakeStream));
        intake->batch = g_byte_array_new();
        intake->channel = channel_new(fd, &INTAKE_CALLS, intake);
        g_ptr_array_add(merger->intakes, intake);
        if (mode == INTAKE_LIVE)
                merger->n_live++;
        return intake;
}

static void add_report(IngestReport *sum, const IngestReport *report)
{
        sum->events += report->events;
        sum->dotnet_events += report->dotnet_events;
        sum->unknown_events += report->unknown_events;
        sum->decode_errors += report->decode_errors;
}

void intake_free(Intake *intake)
{
        Merger *merger;
        GList *link;
        guint i;

        if (!intake)
                return;
        merger = intake->merger;
        for (link = merger->commits->head; link; link = link->next)
                if (link->data == intake)
                        link->data = NULL;
        for (i = 0; intake->mode == INTAKE_LIVE && i < intake->streams->len; i++)
                g_array_index(intake->streams, IntakeStream, i).stream->is_live = false;
        add_report(&merger->report, &intake->report);
        g_ptr_array_remove(merger->intakes, intake);
        channel_free(intake->channel);
        g_array_unref(intake->streams);
        g_byte_array_unref(intake->batch);
        g_free(intake);
}

unsigned intake_n_streams(const Intake *intake)
{
        return intake->streams->len;
}

bool intake_is_attached(const Intake *intake)
{
        return intake->streams->len > 0 || intake->now > 0;
}

/* Answers to STREAM_OPEN that can be given by now. */
static void answer_opens(Intake *intake)
{
        guint i;

        for (i = 0; i < intake->streams->len; i++) {
                IntakeStream *own = &g_array_index(intake->streams, IntakeStream, i);

                if (own->is_answered || own->held || !own->stream->is_known)
                        continue;
                own->is_answered = true;
                if (intake->mode == INTAKE_LIVE)
                        own->stream->is_live = true;
                ingest_put_ack(channel_output(intake->channel), i,
                               MAX(own->stream->watermark, own->stream->taken));
        }
        channel_flush(intake->channel);
}

void merger_release(Merger *merger, uint64_t last)
{
        guint i, j;

        for (i = 0; i < merger->intakes->len; i++) {
                Intake *intake = merger->intakes->pdata[i];

                for (j = 0; j < intake->streams->len; j++) {
                        IntakeStream *own = &g_array_index(intake->streams, IntakeStream, j);

                        if (own->held <= last)
                                own->held = 0;
                }
                answer_opens(intake);
        }
}

static bool on_stream_open(Intake *intake, const IngestFrame *frame)
{
        Merger *merger = intake->merger;
        IngestStream *identity = ingest_stream_new();
        IntakeStream own = {0};
        StreamKey key = {0};
        uint32_t number;
        bool ok = ingest_get_stream_open(frame, &number, identity) == 0 &&
                  number == intake->streams->len;

        if (ok) {
                memcpy(key.uuid, identity->trace_uuid, sizeof(key.uuid));
                key.class_id = identity->class_id;
                key.stream_id = identity->stream_id;
                own.stream = stream_table_get(merger->table, &key);
                stream_identify(own.stream, identity);
                own.stream->is_whole = false;
                if (own.stream->number == STREAM_CLOSED) {
                        ok = merger->open->len < INGEST_MAX_STREAMS;
                        if (ok)
                                open_stream(merger, own.stream);
                        channel_flush(merger->channel);
                }
                if (intake->mode == INTAKE_LIVE)
                        own.held = ++merger->n_held;
                g_array_append_val(intake->streams, own);
        }
        ingest_stream_free(identity);
        return ok;
}

static void put_gap(GByteArray *out, const FeedStream *stream, uint64_t begin, uint64_t end)
{
        const IngestGap gap = {
                .kind = GAP_EVENTS,
                .begin = begin,
                .end = end,
                .count = INGEST_COUNT_UNKNOWN,
        };

        ingest_put_gap(out, stream->number, &gap);
}

/*
 * The first that a reader has of a stream is of TIME. What is missing between that and what was
 * fed before, by whomever, is a gap; also what the same buffers may have had since their last
 * session.
 */
static void begin(Intake *intake, FeedStream *stream, uint64_t time)
{
        uint64_t fed = stream->progress;

        if (!fed && !stream->watermark)
                fed = stream->is_late ? 1 : stream_table_earlier(intake->merger->table, stream);
        if (fed && fed < time)
                put_gap(intake->batch, stream, fed, time - 1);
}

static uint64_t get_u64(const uint8_t *bytes)
{
        uint64_t value;

        memcpy(&value, bytes, sizeof(value));
        return GUINT64_FROM_LE(value);
}

/* Where the time is in the payloads; it is looked at here, everything else by the daemon. */
static bool frame_time(const IngestFrame *frame, uint64_t *ret_time)
{
        if ((frame->type != INGEST_RECORD && frame->type != INGEST_PROGRESS) ||
            frame->n_payload < 12)
                return false;
        *ret_time = get_u64(frame->payload + 4);
        return true;
}

static void append_frame(GByteArray *out, const IngestFrame *frame, uint32_t number)
{
        uint8_t header[INGEST_HEADER_SIZE + 4] = {0};
        uint32_t n = GUINT32_TO_LE(frame->n_payload);
        uint16_t type = GUINT16_TO_LE((uint16_t)frame->type);

        number = GUINT32_TO_LE(number);
        memcpy(header, &n, sizeof(n));
        memcpy(header + 4, &type, sizeof(type));
        memcpy(header + INGEST_HEADER_SIZE, &number, sizeof(number));
        g_byte_array_append(out, header, sizeof(header));
        g_byte_array_append(out, frame->payload + 4, frame->n_payload - 4);
}

/* A frame of a stream. False: it makes no sense. */
static bool on_stream_frame(Intake *intake, const IngestFrame *frame)
{
        FeedStream *stream;
        IntakeStream *own;
        uint32_t number;
        uint64_t time;

        if (frame->n_payload < 4)
                return false;
        memcpy(&number, frame->payload, sizeof(number));
        number = GUINT32_FROM_LE(number);
        if (number == INGEST_ALL_STREAMS && frame_time(frame, &time)) {
                intake->now = MAX(intake->now, time);
                return true;
        }
        if (number >= intake->streams->len)
                return false;
        own = &g_array_index(intake->streams, IntakeStream, number);
        stream = own->stream;
        if (own->is_closed || !own->is_answered)
                return false;
        if (frame->type == INGEST_STREAM_CLOSE) {
                own->is_closed = true;
                /* The packets on disk were not all. */
                if (intake->mode == INTAKE_LIVE)
                        append_frame(intake->batch, frame, stream->number);
                return true;
        }
        if (frame_time(frame, &time)) {
                if (!own->has_begun)
                        begin(intake, stream, time);
                own->has_begun = true;
                if (frame->type == INGEST_RECORD)
                        own->taken = time;
                own->progress = MAX(own->progress, time);
        }
        append_frame(intake->batch, frame, stream->number);
        return intake->batch->len <= INGEST_MAX_BATCH;
}

/* The live reader has come to a time: so have the streams of which it has nothing. */
static void put_quiet_progress(Intake *intake)
{
        const Merger *merger = intake->merger;
        guint i;

        for (i = 0; intake->now && i < merger->open->len; i++) {
                FeedStream *stream = merger->open->pdata[i];
                int64_t time;

                if (!stream || stream->is_live || stream->is_whole || !stream->progress ||
                    stream->caught_up != merger->n_live ||
                    __builtin_sub_overflow((int64_t)intake->now, stream->identity->clock_offset,
                                           &time) ||
                    time <= 0 || (uint64_t)time <= stream->progress)
                        continue;
                stream->progress = (uint64_t)time;
                ingest_put_progress(intake->batch, stream->number, stream->progress);
        }
}

/* What was in a batch that is now on its way. */
static void apply_progress(Intake *intake)
{
        guint i;

        for (i = 0; i < intake->streams->len; i++) {
                IntakeStream *own = &g_array_index(intake->streams, IntakeStream, i);
                FeedStream *stream = own->stream;

                stream->progress = MAX(stream->progress, own->progress);
                stream->taken = MAX(stream->taken, own->taken);
                own->progress = own->taken = 0;
                if (own->is_closed && stream->is_live) {
                        stream->is_whole = true;
                        stream->is_live = false;
                }
        }
}

/* Streams that are over have no number any more. */
static void drop_closed(Merger *merger)
{
        guint i;

        for (i = 0; i < merger->open->len; i++) {
                FeedStream *stream = merger->open->pdata[i];

                if (!stream || !stream->is_whole)
                        continue;
                merger->n_unknown -= !stream->is_known;
                stream->number = STREAM_CLOSED;
                merger->open->pdata[i] = NULL;
        }
}

static void commit(Merger *merger, Intake *intake, GByteArray *batch)
{
        g_byte_array_append(to_daemon(merger), batch->data, batch->len);
        ingest_put_empty(to_daemon(merger), INGEST_COMMIT);
        g_queue_push_tail(merger->commits, intake);
        g_byte_array_set_size(batch, 0);
        drop_closed(merger);
        channel_flush(merger->channel);
}

/* TIME, on the clock of a stream, among the times of all. */
static int64_t order_of(const FeedStream *stream, uint64_t time)
{
        int64_t order;

        return __builtin_add_overflow((int64_t)MIN(time, INT64_MAX), stream->identity->clock_offset,
                                      &order)
                       ? INT64_MAX
                       : order;
}

/* The time at which a frame of ours to the daemon stands among all, in ns since 1970. */
static bool frame_order(const Merger *merger, const IngestFrame *frame, int64_t *ret_order)
{
        uint64_t time;
        uint32_t number;

        if (!frame_time(frame, &time))
                return false;
        memcpy(&number, frame->payload, sizeof(number));
        *ret_order = order_of(merger->open->pdata[GUINT32_FROM_LE(number)], time);
        return *ret_order < INT64_MAX;
}

/* Has EACH called for the frames of the batch, with their order; frames without go with the last.
 */
static void each_frame(Intake *intake,
                       void (*each)(Intake *intake, int64_t order, const uint8_t *frame, size_t n,
                                    void *data),
                       void *data)
{
        const GByteArray *batch = intake->batch;
        int64_t last = INT64_MIN, order;
        size_t at = 0;

        while (at < batch->len) {
                IngestFrame frame;
                size_t n = (size_t)ingest_frame_next(batch->data + at, batch->len - at, &frame);

                if (frame_order(intake->merger, &frame, &order))
                        last = MAX(last, order);
                each(intake, last, batch->data + at, n, data);
                at += n;
        }
}

static void add_to_tail(Intake *intake, int64_t order, const uint8_t *frame, size_t n, void *data)
{
        tail_add(&intake->merger->tail, order, frame, n);
}

/* What comes from disk is held back; its reader need not wait for that. */
static void commit_disk(Intake *intake)
{
        each_frame(intake, add_to_tail, NULL);
        g_byte_array_set_size(intake->batch, 0);
        ingest_put_empty(channel_output(intake->channel), INGEST_COMMITTED);
        channel_flush(intake->channel);
}

static void put_behind_tail(Intake *intake, int64_t order, const uint8_t *frame, size_t n,
                            void *data)
{
        if (order != INT64_MIN)
                tail_take(&intake->merger->tail, order - 1, data);
        g_byte_array_append(data, frame, (guint)n);
}

/* The live reader has everything up to its time: what is older goes first. */
static void merge_tail(Intake *intake)
{
        g_autoptr(GByteArray) merged = g_byte_array_new();

        if (tail_is_empty(&intake->merger->tail))
                return;
        each_frame(intake, put_behind_tail, merged);
        if (intake->now)
                tail_take(&intake->merger->tail, (int64_t)intake->now, merged);
        g_byte_array_set_size(intake->batch, 0);
        g_byte_array_append(intake->batch, merged->data, merged->len);
}

static void settle_to(Merger *merger, int64_t limit)
{
        g_autoptr(GByteArray) batch = g_byte_array_new();

        tail_take(&merger->tail, limit, batch);
        if (batch->len)
                commit(merger, NULL, batch);
}

void merger_settle(Merger *merger, uint64_t time)
{
        int64_t limit = INT64_MAX;
        guint i;

        if (tail_is_empty(&merger->tail))
                return;
        for (i = 0; time < UINT64_MAX && i < merger->open->len; i++)
                if (merger->open->pdata[i])
                        limit = MIN(limit, order_of(merger->open->pdata[i], time));
        settle_to(merger, limit);
}

/* All that was read of STREAM from disk; what other streams have later goes on waiting. */
static void settle_stream(Merger *merger, const FeedStream *stream)
{
        if (!tail_is_empty(&merger->tail))
                settle_to(merger, order_of(stream, stream->disk_end));
}

static void on_commit(Intake *intake)
{
        Merger *merger = intake->merger;
        IngestReport sum = merger->report;
        guint i;

        if (intake->mode == INTAKE_PROBE) {
                g_byte_array_set_size(intake->batch, 0);
                return;
        }
        apply_progress(intake);
        if (intake->mode == INTAKE_DISK) {
                commit_disk(intake);
                return;
        }
        merge_tail(intake);
        put_quiet_progress(intake);
        for (i = 0; i < merger->intakes->len; i++)
                add_report(&sum, &((const Intake *)merger->intakes->pdata[i])->report);
        ingest_put_report(intake->batch, &sum);
        commit(merger, intake, intake->batch);
}

static bool on_hello(Intake *intake, const IngestFrame *frame)
{
        GByteArray *out = channel_output(intake->channel);
        uint32_t version;

        if (frame->type != INGEST_HELLO || ingest_get_hello(frame, &version) < 0)
                return false;
        if (version != INGEST_VERSION) {
                ingest_put_error(out, "clrsym feed is of another version than the plugin: install "
                                      "both from one release");
                channel_flush(intake->channel);
                return false;
        }
        ingest_put_hello(out, INGEST_VERSION, "clrsym feed " CLRSYM_VERSION);
        ingest_put_empty(out, intake->merger->may_go ? INGEST_GO : INGEST_HOLD);
        intake->is_greeted = true;
        return true;
}

static bool on_intake_frame(Intake *intake, const IngestFrame *frame)
{
        if (!intake->is_greeted)
                return on_hello(intake, frame);
        switch ((int)frame->type) {
        case INGEST_STREAM_OPEN:
                return on_stream_open(intake, frame);
        case INGEST_RECORD:
        case INGEST_GAP:
        case INGEST_PROGRESS:
        case INGEST_STREAM_CLOSE:
                return on_stream_frame(intake, frame);
        case INGEST_REPORT:
                return ingest_get_report(frame, &intake->report) == 0;
        case INGEST_COMMIT:
                on_commit(intake);
                return true;
        default:
                return false;
        }
}

/* Has FRAME called for all that are whole. What is left of INPUT is the start of one. */
static bool take_frames(GByteArray *input, bool (*take)(void *data, const IngestFrame *frame),
                        void *data)
{
        size_t at = 0;
        bool ok = true;

        while (ok) {
                IngestFrame frame;
                ssize_t n = ingest_frame_next(input->data + at, input->len - at, &frame);

                if (n == 0)
                        break;
                ok = n > 0 && take(data, &frame);
                at += ok ? (size_t)n : 0;
        }
        if (at)
                g_byte_array_remove_range(input, 0, (guint)at);
        return ok;
}

static bool take_intake_frame(void *data, const IngestFrame *frame)
{
        return on_intake_frame(data, frame);
}

static void on_intake_input(void *data)
{
        Intake *intake = data;
        Merger *merger = intake->merger;
        uint64_t n_held = merger->n_held;
        bool ok = take_frames(channel_input(intake->channel), take_intake_frame, intake);

        if (ok)
                answer_opens(intake);
        if (merger->n_held != n_held)
                merger->calls->held(merger->data);
        if (!ok)
                merger->calls->ended(merger->data, intake, true);
}

static void on_intake_closed(void *data)
{
        Intake *intake = data;

        intake->merger->calls->ended(intake->merger->data, intake, false);
}

/* The daemon */

static bool on_ack(Merger *merger, const IngestFrame *frame)
{
        FeedStream *stream;
        uint32_t number;
        uint64_t time;

        if (ingest_get_stream_time(frame, &number, &time) < 0 || number >= merger->open->len)
                return false;
        stream = merger->open->pdata[number];
        if (!stream) /* closed meanwhile */
                return true;
        if (!stream->is_known)
                merger->n_unknown--;
        stream->is_known = true;
        stream->watermark = MAX(stream->watermark, time);
        return true;
}

static void tell_all(Merger *merger, IngestType type)
{
        guint i;

        merger->may_go = type == INGEST_GO;
        for (i = 0; i < merger->intakes->len; i++) {
                Intake *intake = merger->intakes->pdata[i];

                if (!intake->is_greeted)
                        continue;
                ingest_put_empty(channel_output(intake->channel), type);
                channel_flush(intake->channel);
        }
}

static bool take_daemon_frame(void *data, const IngestFrame *frame)
{
        Merger *merger = data;
        Intake *intake;
        uint32_t version;

        switch ((int)frame->type) {
        case INGEST_HELLO:
                merger->is_greeted =
                        ingest_get_hello(frame, &version) == 0 && version == INGEST_VERSION;
                return merger->is_greeted;
        case INGEST_ACK:
                return on_ack(merger, frame);
        case INGEST_COMMITTED:
                if (g_queue_is_empty(merger->commits))
                        return false;
                intake = g_queue_pop_head(merger->commits);
                if (intake) {
                        ingest_put_empty(channel_output(intake->channel), INGEST_COMMITTED);
                        channel_flush(intake->channel);
                }
                return true;
        case INGEST_HOLD:
        case INGEST_GO:
                tell_all(merger, frame->type);
                return true;
        default: /* ERROR, too: it is left at the start of the input */
                return false;
        }
}

static void on_daemon_input(void *data)
{
        Merger *merger = data;
        GByteArray *input = channel_input(merger->channel);
        g_autofree char *why = NULL;
        IngestFrame frame;
        guint i;

        if (take_frames(input, take_daemon_frame, merger)) {
                for (i = 0; i < merger->intakes->len; i++)
                        answer_opens(merger->intakes->pdata[i]);
                merger->calls->known(merger->data);
                return;
        }
        if (ingest_frame_next(input->data, input->len, &frame) > 0 && frame.type == INGEST_ERROR)
                why = ingest_get_error(&frame);
        merger->calls->lost(merger->data, why ? why : "it is no clrsymd, or of another version");
}

static void on_daemon_closed(void *data)
{
        Merger *merger = data;

        merger->calls->lost(merger->data, "it has gone");
}

void merger_close_stream(Merger *merger, FeedStream *stream)
{
        g_autoptr(GByteArray) batch = g_byte_array_new();

        if (stream->is_whole || stream->is_live)
                return;
        settle_stream(merger, stream);
        stream->is_whole = true;
        if (stream->number == STREAM_CLOSED)
                return;
        ingest_put_stream_close(batch, stream->number);
        commit(merger, NULL, batch);
}

void merger_give_up(Merger *merger, FeedStream *stream, uint64_t time)
{
        g_autoptr(GByteArray) batch = g_byte_array_new();

        stream->disk_end = MAX(stream->disk_end, time);
        settle_stream(merger, stream);
        if (stream->number == STREAM_CLOSED || stream->progress >= time)
                return;
        put_gap(batch, stream, stream->progress ? stream->progress : 1, time);
        stream->progress = time;
        commit(merger, NULL, batch);
}
