/* SPDX-License-Identifier: MIT */

/*
 * The feed of one target: streams in pieces of any size, a daemon that starts late, and a daemon
 * that disconnects.
 */

#include "attach/eventpipe-feed.h"

#include "support/nettrace-stream.h"
#include "support/suite.h"
#include "tracker/trace.h"
#include "util/fd.h"
#include "util/unix-socket.h"
#include "wire/ingest-connection.h"
#include "wire/ingest.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

#define SINCE 1500
#define LIMIT (10 * G_TIME_SPAN_SECOND)

static const FeedTarget TARGET = {.process = {4026531836, 77}, .uid = 1000, .start_ticks = 5};

/* A fake daemon as a feeder sees a daemon. */
typedef struct FakeDaemon {
        char *directory, *path; /* owned */
        int listener, fd;
        Tracker *tracker;
        IngestConnection *connection;
        GByteArray *seen;   /* owned: frames that the test has not counted yet */
        uint64_t n_records; /* records of rising times */
        uint64_t n_missing; /* lost events that gaps report */
        uint64_t last;      /* ns: time of the last record */
        bool is_closed;     /* the feeder closed the stream */
} FakeDaemon;

static void fake_listen(FakeDaemon *fake)
{
        fake->listener = unix_listen(fake->path, 0600);
        ck_assert_int_ge(fake->listener, 0);
}

static void fake_init(FakeDaemon *fake)
{
        fake->directory = g_dir_make_tmp("clrsym-XXXXXX", NULL);
        fake->path = g_build_filename(fake->directory, "ingest", NULL);
        fake->listener = fake->fd = -1;
        fake->tracker = tracker_new();
        fake->connection = NULL;
        fake->seen = g_byte_array_new();
        fake->n_records = fake->n_missing = fake->last = 0;
        fake->is_closed = false;
}

static void fake_hang_up(FakeDaemon *fake)
{
        fd_clear(&fake->fd);
        ingest_connection_free(fake->connection);
        fake->connection = NULL;
}

static void fake_deinit(FakeDaemon *fake)
{
        fake_hang_up(fake);
        fd_clear(&fake->listener);
        tracker_free(fake->tracker);
        g_unlink(fake->path);
        g_rmdir(fake->directory);
        g_free(fake->path);
        g_free(fake->directory);
        g_byte_array_unref(fake->seen);
}

static void fake_count_frame(FakeDaemon *fake, const IngestFrame *frame)
{
        uint32_t number;
        StreamGap gap;
        Record record;

        if (frame->type == INGEST_RECORD) {
                ck_assert_int_ge(ingest_get_record(frame, &number, &record), 0);
                ck_assert_uint_gt(record.time, fake->last);
                fake->last = record.time;
                fake->n_records++;
        } else if (frame->type == INGEST_GAP) {
                ck_assert_int_ge(ingest_get_gap(frame, &number, &gap), 0);
                ck_assert_uint_ge(gap.begin, fake->last);
                fake->n_missing += gap.count;
        } else if (frame->type == INGEST_STREAM_CLOSE) {
                fake->is_closed = true;
        }
}

static void fake_count(FakeDaemon *fake, const uint8_t *bytes, size_t n)
{
        IngestFrame frame;
        size_t at = 0;

        g_byte_array_append(fake->seen, bytes, (guint)n);
        while ((n = (size_t)ingest_frame_next(fake->seen->data + at, fake->seen->len - at,
                                              &frame)) > 0) {
                fake_count_frame(fake, &frame);
                at += n;
        }
        g_byte_array_remove_range(fake->seen, 0, (guint)at);
}

/* Reads the frames that arrived, and answers. */
static void fake_run(FakeDaemon *fake)
{
        GByteArray *out;
        uint8_t bytes[4096];
        ssize_t n;

        if (fake->fd < 0) {
                fake->fd = accept(fake->listener, NULL, NULL);
                if (fake->fd < 0)
                        return;
                fake->connection = ingest_connection_new(fake->tracker, false);
        }
        while ((n = recv(fake->fd, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0) {
                fake_count(fake, bytes, (size_t)n);
                ck_assert(ingest_connection_feed(fake->connection, bytes, (size_t)n));
        }
        out = ingest_connection_output(fake->connection);
        n = send(fake->fd, out->data, out->len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0)
                g_byte_array_remove_range(out, 0, (guint)n);
}

/* Runs the feed until the daemon has N batches on this connection. */
static void run_until(FakeDaemon *fake, EventPipeFeed *feed, uint64_t n)
{
        const gint64 deadline = g_get_monotonic_time() + 60 * G_TIME_SPAN_SECOND;

        while (!fake->connection || ingest_connection_n_commits(fake->connection) < n) {
                eventpipe_feed_run(feed);
                fake_run(fake);
                ck_assert_int_lt(g_get_monotonic_time(), deadline);
                g_usleep(1000);
        }
}

/* Pushes the bytes from AT to the end of BYTES. */
static void push(EventPipeFeed *feed, const GByteArray *bytes, size_t at, size_t step)
{
        for (; at < bytes->len; at += step)
                eventpipe_feed_push(feed, bytes->data + at, MIN(step, bytes->len - at));
}

/* Appends an event of thread 8 with the promise that no older event follows. */
static void put_promise(GByteArray *out, uint64_t time, uint32_t sequence)
{
        const NettraceTestEvent event = {1, sequence, 8, time, true};

        nettrace_put_one(out, 4, &event);
}

/* Returns a session with two events, and with a promise 100 ns later. */
static GByteArray *session_new(uint64_t time)
{
        GByteArray *out = nettrace_stream_begin(4);
        const NettraceTestEvent events[] = {{1, 1, 7, time, true}, {1, 2, 7, time + 5, false}};

        nettrace_put_one(out, 4, &events[0]);
        nettrace_put_one(out, 4, &events[1]);
        put_promise(out, time + 100, 1);
        return out;
}

/* Returns the only stream that was fed. */
static const TrackerStream *find_stream(const FakeDaemon *fake)
{
        const GPtrArray *streams = ingest_connection_streams(fake->connection);

        ck_assert_uint_eq(streams->len, 1);
        return streams->pdata[0];
}

static const size_t STEPS[] = {1, 2, 3, 7, 64, 100000};

/* A session in pieces: the daemon starts late and disconnects once. */
START_TEST(test_pieces)
{
        g_autoptr(GByteArray) session = session_new(2000);
        const TrackerStream *stream;
        EventPipeFeed *feed;
        size_t n_before;
        FakeDaemon fake;

        fake_init(&fake);
        feed = eventpipe_feed_new(fake.path, &TARGET, &FEED_LIMITS, SINCE);
        eventpipe_feed_run(feed);
        push(feed, session, 0, STEPS[_i]);
        ck_assert_msg(!eventpipe_feed_error(feed), "%s", eventpipe_feed_error(feed)->message);
        ck_assert_uint_eq(eventpipe_feed_horizon(feed), 2100);
        fake_listen(&fake);
        run_until(&fake, feed, 2);
        stream = find_stream(&fake);
        /* The pid comes from the kernel, not from the stream. */
        ck_assert_int_eq(stream->trace->scheme, BUFFER_SCHEME_PER_PID);
        ck_assert_int_eq(stream->trace->pid, TARGET.process.pid);
        ck_assert_uint_eq(stream->trace->uid, TARGET.uid);
        ck_assert_uint_eq(stream->progress, 2100);
        fake_hang_up(&fake);
        n_before = session->len;
        put_promise(session, 3000, 2);
        push(feed, session, n_before, STEPS[_i]);
        run_until(&fake, feed, 1);
        ck_assert_ptr_eq(find_stream(&fake), stream);
        ck_assert_uint_eq(stream->progress, 3000);
        ck_assert(!trace_has_gap(stream->trace, 0, UINT64_MAX));
        eventpipe_feed_free(feed);
        fake_deinit(&fake);
}
END_TEST

/* During a listing, the session's events wait. The feed drops an incomplete listing. */
START_TEST(test_listing)
{
        g_autoptr(GByteArray) session = session_new(2000), listing = session_new(2003),
                              later = NULL;
        EventPipeFeed *feed;
        FakeDaemon fake;
        size_t i;

        fake_init(&fake);
        fake_listen(&fake);
        feed = eventpipe_feed_new(fake.path, &TARGET, &FEED_LIMITS, SINCE);
        nettrace_stream_end(listing, 4);
        if (_i == 1) /* the end mark is missing */
                g_byte_array_set_size(listing, listing->len - 1);
        eventpipe_feed_begin_listing(feed);
        push(feed, session, 0, 7);
        ck_assert_uint_eq(eventpipe_feed_horizon(feed), SINCE);
        for (i = 0; i < listing->len; i++)
                eventpipe_feed_push_listing(feed, listing->data + i, 1);
        ck_assert_int_eq(eventpipe_feed_end_listing(feed, _i < 2), _i == 0);
        ck_assert_uint_eq(eventpipe_feed_horizon(feed), 2100);
        run_until(&fake, feed, 2);
        ck_assert_uint_eq(find_stream(&fake)->progress, 2100);
        ck_assert(!trace_has_gap(find_stream(&fake)->trace, 0, UINT64_MAX));
        eventpipe_feed_free(feed);
        fake_deinit(&fake);
}
END_TEST

/* A damaged stream is an error; the feed sends the events before the damage. */
START_TEST(test_damaged)
{
        g_autoptr(GByteArray) session = session_new(2000);
        EventPipeFeed *feed;
        FakeDaemon fake;

        fake_init(&fake);
        fake_listen(&fake);
        feed = eventpipe_feed_new(fake.path, &TARGET, &FEED_LIMITS, SINCE);
        push(feed, session, 0, 7);
        eventpipe_feed_push(feed, (const uint8_t *)"garbage, and more of it", 23);
        ck_assert_ptr_nonnull(eventpipe_feed_error(feed));
        eventpipe_feed_push(feed, (const uint8_t *)"garbage", 7);
        run_until(&fake, feed, 2);
        ck_assert_uint_eq(find_stream(&fake)->progress, 2100);
        eventpipe_feed_free(feed);
        fake_deinit(&fake);
}
END_TEST

/* Without a daemon, the end respects its time limit. */
START_TEST(test_no_daemon)
{
        g_autoptr(GByteArray) session = session_new(2000);
        EventPipeFeed *feed;
        FakeDaemon fake;

        fake_init(&fake);
        feed = eventpipe_feed_new(fake.path, &TARGET, &FEED_LIMITS, SINCE);
        push(feed, session, 0, 100);
        eventpipe_feed_finish(feed, G_TIME_SPAN_MILLISECOND);
        eventpipe_feed_free(feed);
        fake_deinit(&fake);
}
END_TEST

/* Limits of a feed, and the result of N_WAITING events before the daemon starts. */
enum { N_WAITING = 500, FIRST_TIME = 10000, STEP = 10 };

typedef struct Spilling {
        BacklogLimits limits;
        rlim_t disk; /* bytes of disk */
        bool has_gap;
} Spilling;

static const Spilling SPILLINGS[] = {
        {{.memory = 1 << 20, .file = 0}, RLIM_INFINITY, false},
        {{.memory = 200, .file = 4 << 20}, RLIM_INFINITY, false},
        {{.memory = 0, .file = 4 << 20}, RLIM_INFINITY, false},
        {{.memory = 200, .file = 0}, RLIM_INFINITY, true},
        {{.memory = 200, .file = 1000}, RLIM_INFINITY, true},
        {{.memory = 200, .file = (1 << 20) + 1000}, RLIM_INFINITY, true},
        {{.memory = 200, .file = 4 << 20}, 0, true},
        {{.memory = 200, .file = 4 << 20}, 1000, true},
};

static uint64_t time_of(unsigned i)
{
        return FIRST_TIME + STEP * (uint64_t)i;
}

static void push_promise(EventPipeFeed *feed, GByteArray *session, unsigned i)
{
        const size_t n_before = session->len;

        put_promise(session, time_of(i), 2 + i);
        push(feed, session, n_before, 1000);
}

/* Pushes SESSION while the disk has room for a limited number of bytes. No other thread writes
 * meanwhile. */
static void push_on_disk(EventPipeFeed *feed, GByteArray *session, unsigned i, rlim_t n_bytes)
{
        const struct rlimit full = {.rlim_cur = n_bytes, .rlim_max = RLIM_INFINITY};
        const struct rlimit empty = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};

        setrlimit(RLIMIT_FSIZE, &full);
        push_promise(feed, session, i);
        setrlimit(RLIMIT_FSIZE, &empty);
}

/* Pushes events until the daemon has every event. Returns the number of the next event. */
static unsigned catch_up(FakeDaemon *fake, EventPipeFeed *feed, GByteArray *session, unsigned i)
{
        const gint64 deadline = g_get_monotonic_time() + 60 * G_TIME_SPAN_SECOND;
        unsigned k;

        for (k = 1; !fake->connection || find_stream(fake)->progress < time_of(i - 1); k++) {
                eventpipe_feed_run(feed);
                fake_run(fake);
                ck_assert_int_lt(g_get_monotonic_time(), deadline);
                if (k % 64 == 0)
                        push_promise(feed, session, i++);
                g_usleep(100);
        }
        return i;
}

/* The daemon gets every event, or a gap; once the daemon is connected, no event is lost. */
START_TEST(test_spilled)
{
        const Spilling *spilling = &SPILLINGS[_i];
        g_autoptr(GByteArray) session = session_new(2000);
        const TrackerStream *stream;
        EventPipeFeed *feed;
        uint64_t caught_up;
        FakeDaemon fake;
        unsigned i;

        signal(SIGXFSZ, SIG_IGN);
        fake_init(&fake);
        feed = eventpipe_feed_new(fake.path, &TARGET, &spilling->limits, SINCE);
        push(feed, session, 0, 1000);
        for (i = 0; i < N_WAITING; i++)
                push_on_disk(feed, session, i, spilling->disk);
        fake_listen(&fake);
        run_until(&fake, feed, 1);
        i = catch_up(&fake, feed, session, i);
        caught_up = time_of(i - 1);
        while (i < 2 * N_WAITING) {
                push_promise(feed, session, i);
                i = catch_up(&fake, feed, session, i + 1);
        }
        stream = find_stream(&fake);
        ck_assert_int_eq(trace_has_gap(stream->trace, 0, UINT64_MAX), spilling->has_gap);
        ck_assert(!trace_has_gap(stream->trace, 0, SINCE - 1));
        ck_assert(!trace_has_gap(stream->trace, caught_up + STEP, UINT64_MAX));
        eventpipe_feed_free(feed);
        fake_deinit(&fake);
}
END_TEST

/* Returns the begin of a session whose first event is MethodUnload. */
static GByteArray *unloads_begin(void)
{
        GByteArray *out = nettrace_stream_begin(4);
        uint8_t *id = memmem(out->data, out->len, (const uint8_t[]){160, 0, 0, 0}, 4);

        ck_assert_ptr_nonnull(id);
        *id = 142;
        return out;
}

/* Appends one MethodUnload to a block of events. */
static void put_unload(GByteArray *block, uint32_t sequence_step, uint64_t time_step)
{
        enum { SIZE = 36, SORTED = 0x40, THREAD = 7 };

        nettrace_put(block, NETTRACE_TEST_FLAGS | SORTED, 1);
        nettrace_put_varint(block, 1);
        nettrace_put_varint(block, sequence_step);
        nettrace_put_varint(block, THREAD);
        nettrace_put_varint(block, UINT32_MAX); /* processor */
        nettrace_put_varint(block, THREAD);
        nettrace_put_varint(block, time_step);
        nettrace_put_varint(block, SIZE);
        nettrace_put(block, 0x1111, 8);
        nettrace_put(block, 0x2222, 8);
        nettrace_put(block, 0x7f0000001000, 8);
        nettrace_put(block, 64, 4);
        nettrace_put(block, 0x06000001, 4);
        nettrace_put(block, 0, 4);
}

/*
 * Pushes 1,000 events, 10 ns apart, each with the promise that no older event follows. SESSION
 * keeps only the bytes that decide the padding of the block.
 */
static void push_thousand(EventPipeFeed *feed, GByteArray *session, unsigned *sequence,
                          uint64_t *time)
{
        const size_t n_before = session->len % 4;
        GByteArray *block = nettrace_block_new(true);
        unsigned i;

        put_unload(block, *sequence, *time);
        for (i = 1; i < 1000; i++)
                put_unload(block, 0, 10);
        *sequence += 1000;
        *time += 10000;
        g_byte_array_set_size(session, (guint)n_before);
        nettrace_put_block(session, 4, NETTRACE_BLOCK_EVENT, block);
        push(feed, session, n_before, 100000);
        ck_assert(!eventpipe_feed_error(feed));
}

/* The thread of the daemon: answers until the last batch has arrived. */
static void *fake_thread(void *data)
{
        FakeDaemon *fake = data;

        while (!fake->is_closed) {
                fake_run(fake);
                g_usleep(100);
        }
        return NULL;
}

/* bytes: minimum of the queued data of one event */
#define EVENT_SIZE 32

/* The daemon is absent for a while: afterwards it gets each event once and in order, or a gap that
 * counts the event. */
START_TEST(test_backlog)
{
        static const BacklogLimits limits[] = {
                {1u << 20, 256u << 20}, {1u << 20, 2u << 20}, {1u << 20, 1000}, {1u << 20, 0}};
        const unsigned n_events = (4u << 20) / EVENT_SIZE;
        g_autoptr(GByteArray) session = unloads_begin();
        uint64_t time = 2000;
        unsigned sequence = 0;
        EventPipeFeed *feed;
        GThread *daemon;
        FakeDaemon fake;

        fake_init(&fake);
        feed = eventpipe_feed_new(fake.path, &TARGET, &limits[_i], SINCE);
        push(feed, session, 0, 100);
        while (sequence < n_events)
                push_thousand(feed, session, &sequence, &time);
        fake_listen(&fake);
        daemon = g_thread_new("daemon", fake_thread, &fake);
        eventpipe_feed_finish(feed, LIMIT);
        g_thread_join(daemon);
        ck_assert_uint_eq(fake.n_records + fake.n_missing, sequence);
        ck_assert_int_eq(fake.n_missing == 0, _i == 0);
        eventpipe_feed_free(feed);
        fake_deinit(&fake);
}
END_TEST

static const struct {
        const char *text; /* NULL: the variable is not set */
        uint64_t limit;   /* bytes; unused where IS_SIZE is false */
        bool is_size;
} LIMITS[] = {
        {NULL, 256u << 20, true}, {"0", 0, true},   {"1G", 1u << 30, true}, {"4096", 4096, true},
        {"much", 0, false},       {"-1", 0, false}, {"", 0, false},
};

START_TEST(test_limits)
{
        g_autoptr(GError) error = NULL;
        BacklogLimits limits;

        if (LIMITS[_i].text)
                g_setenv(FEED_LIMIT_VARIABLE, LIMITS[_i].text, true);
        else
                g_unsetenv(FEED_LIMIT_VARIABLE);
        ck_assert_int_eq(eventpipe_feed_find_limits(&limits, &error), LIMITS[_i].is_size);
        ck_assert_int_eq(error == NULL, LIMITS[_i].is_size);
        if (LIMITS[_i].is_size)
                ck_assert_uint_eq(limits.file, LIMITS[_i].limit);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("attach-feed");
        TCase *tcase = tcase_create("attach-feed");

        tcase_add_loop_test(tcase, test_pieces, 0, G_N_ELEMENTS(STEPS));
        tcase_add_loop_test(tcase, test_listing, 0, 3);
        tcase_add_test(tcase, test_damaged);
        tcase_add_test(tcase, test_no_daemon);
        tcase_add_loop_test(tcase, test_spilled, 0, G_N_ELEMENTS(SPILLINGS));
        tcase_add_loop_test(tcase, test_backlog, 0, 4);
        tcase_add_loop_test(tcase, test_limits, 0, G_N_ELEMENTS(LIMITS));
        suite_add_tcase(suite, tcase);
        return suite;
}
