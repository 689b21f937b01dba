/* SPDX-License-Identifier: MIT */

/*
 * Long batches are applied in pieces, so that other clients have their turn: the result is the same
 * for any batch, and no piece is long.
 */

#include "support/ingest-script.h"
#include "support/suite.h"
#include "wire/ingest-connection.h"
#include "wire/ingest.h"

#include <string.h>

/* Long batches, and the minimum and maximum number of pieces. */
typedef enum BatchShape {
        SHAPE_SORTED,
        SHAPE_EQUAL_PAIRS,
        SHAPE_ONE_TIME,
        SHAPE_ONE_STREAM_AFTER_THE_OTHER,
        SHAPE_EARLY_AT_THE_END,
        SHAPE_CLOSE_FIRST,
        SHAPE_QUIET_FIRST,
        SHAPE_RUNDOWNS,
        SHAPE_UNKNOWN_EVENTS,
        _SHAPE_MAX,
} BatchShape;

enum { N_LONG = 5000 };

static const struct {
        unsigned least, most;
} SHAPES[_SHAPE_MAX] = {
        [SHAPE_SORTED] = {8, 20},           [SHAPE_EQUAL_PAIRS] = {8, 20},
        [SHAPE_ONE_TIME] = {1, 1},          [SHAPE_ONE_STREAM_AFTER_THE_OTHER] = {8, 20},
        [SHAPE_EARLY_AT_THE_END] = {8, 20}, [SHAPE_CLOSE_FIRST] = {8, 20},
        [SHAPE_QUIET_FIRST] = {8, 20},      [SHAPE_RUNDOWNS] = {200, 250},
        [SHAPE_UNKNOWN_EVENTS] = {8, 20},
};

static uint64_t shape_time(BatchShape shape, unsigned i)
{
        switch (shape) {
        case SHAPE_EQUAL_PAIRS:
                return 100 + i / 4;
        case SHAPE_ONE_TIME:
                return 100;
        case SHAPE_ONE_STREAM_AFTER_THE_OTHER:
                return 100 + i % (N_LONG / 2);
        case SHAPE_EARLY_AT_THE_END:
                return i + 1 < N_LONG ? 100 + i : 100;
        default:
                return 100 + i;
        }
}

/* Appends a load as an event that only a newer feeder knows. */
static void put_unknown(GByteArray *out, uint64_t time)
{
        const uint16_t id = UINT16_MAX;
        guint at = out->len;

        script_load(out, 0, time, 0x1000);
        memcpy(out->data + at + INGEST_HEADER_SIZE + 30, &id, sizeof(id));
}

static void put_long_batch(GByteArray *out, BatchShape shape)
{
        unsigned i;

        if (shape == SHAPE_CLOSE_FIRST)
                ingest_put_stream_close(out, 2);
        if (shape == SHAPE_QUIET_FIRST)
                ingest_put_progress(out, INGEST_ALL_STREAMS, 50);
        for (i = 0; i < N_LONG; i++) {
                if (shape == SHAPE_UNKNOWN_EVENTS && i % 100) {
                        put_unknown(out, shape_time(shape, i));
                        continue;
                }
                script_load(out,
                            shape == SHAPE_ONE_STREAM_AFTER_THE_OTHER ? i / (N_LONG / 2) : i % 2,
                            shape_time(shape, i), 0x1000 + 16 * (i % 1000));
                if (shape == SHAPE_RUNDOWNS && i % 25 == 0)
                        script_rundown_end(out, 0, shape_time(shape, i) + 1);
        }
}

static void put_long_head(GByteArray *out)
{
        uint32_t i;

        script_hello(out);
        for (i = 0; i < 3; i++)
                script_stream_open(out, i);
}

/* Appends a piece of a batch to DATA. */
static void keep_piece(void *data, const uint8_t *frames, size_t n)
{
        g_ptr_array_add(data, g_byte_array_append(g_byte_array_new(), frames, (guint)n));
}

static void keep_nothing(void *data, const uint8_t *frame, size_t n)
{
}

static void ignore_applied(void *data)
{
}

static void byte_array_destroy(gpointer data)
{
        g_byte_array_unref(data);
}

/* Returns the lists of TRACKER without the counters. */
static char *methods(const Tracker *tracker)
{
        char *all = tracker_knowledge(tracker),
             *status = strstr(all, "{\"parameters\":{\"version\"");

        ck_assert_ptr_nonnull(status);
        *status = '\0';
        return all;
}

/* Applies SCRIPT whole. REPLIES: gets the replies; NULL: drops them. */
static void apply_at_once(Tracker *tracker, const GByteArray *script, GByteArray *replies)
{
        IngestConnection *connection = ingest_connection_new(tracker, false);
        const GByteArray *output = ingest_connection_output(connection);

        ck_assert(ingest_connection_feed(connection, script->data, script->len));
        if (replies)
                g_byte_array_append(replies, output->data, output->len);
        ingest_connection_free(connection);
}

/* Applies a long batch in pieces, one for each run. */
static Tracker *apply_pieces(const GByteArray *head, const GByteArray *batch, GPtrArray *pieces,
                             GByteArray *replies)
{
        const IngestSink sink = {keep_nothing, keep_piece, ignore_applied, pieces};
        Tracker *tracker = tracker_new();
        IngestConnection *connection = ingest_connection_new(tracker, false);
        const Conversation *conversation = ingest_connection_conversation(connection);
        unsigned n_runs = 1;

        ck_assert(ingest_connection_feed(connection, head->data, head->len));
        ingest_connection_set_turn(connection, 1);
        ingest_connection_set_sink(connection, &sink);
        ck_assert(ingest_connection_feed(connection, batch->data, batch->len));
        while (!ingest_connection_run(connection)) {
                ck_assert(!conversation->type->wants_input(conversation));
                ck_assert_uint_eq(ingest_connection_n_commits(connection), 0);
                n_runs++;
        }
        ck_assert_uint_eq(ingest_connection_n_pieces(connection), pieces->len);
        ck_assert_uint_le(n_runs, pieces->len);
        ck_assert_uint_eq(ingest_connection_n_commits(connection), 1);
        g_byte_array_append(replies, ingest_connection_output(connection)->data,
                            ingest_connection_output(connection)->len);
        ingest_connection_free(connection);
        return tracker;
}

/* The daemon ends after N pieces: it replays them, and the feeder sends everything again. */
static void check_restart(const GByteArray *head, const GByteArray *batch, const GPtrArray *pieces,
                          guint n, const char *want)
{
        Tracker *tracker = tracker_new();
        IngestConnection *connection = ingest_connection_new(tracker, false);
        g_autoptr(GByteArray) commit = g_byte_array_new();
        g_autofree char *got = NULL;
        guint i;

        script_commit(commit);
        ck_assert(ingest_connection_feed(connection, head->data, head->len));
        for (i = 0; i < n; i++) {
                const GByteArray *piece = pieces->pdata[i];

                ck_assert(ingest_connection_feed(connection, piece->data, piece->len));
                ck_assert(ingest_connection_feed(connection, commit->data, commit->len));
        }
        ingest_connection_free(connection);
        connection = ingest_connection_new(tracker, false);
        ck_assert(ingest_connection_feed(connection, head->data, head->len));
        ck_assert(ingest_connection_feed(connection, batch->data, batch->len));
        ingest_connection_free(connection);
        got = methods(tracker);
        ck_assert_str_eq(got, want);
        tracker_free(tracker);
}

/* In pieces or whole, the result is the same, also if the daemon ends between two pieces. */
START_TEST(test_pieces)
{
        g_autoptr(GPtrArray) pieces = g_ptr_array_new_with_free_func(byte_array_destroy);
        g_autoptr(GByteArray) head = g_byte_array_new(), batch = g_byte_array_new(),
                              whole = g_byte_array_new(), replies = g_byte_array_new(),
                              want_replies = g_byte_array_new();
        g_autofree char *got = NULL, *want = NULL, *want_all = NULL;
        Tracker *tracker;
        guint i;

        put_long_head(head);
        put_long_batch(batch, (BatchShape)_i);
        script_commit(batch);
        g_byte_array_append(whole, head->data, head->len);
        g_byte_array_append(whole, batch->data, batch->len);
        tracker = tracker_new();
        apply_at_once(tracker, whole, want_replies);
        want_all = tracker_knowledge(tracker);
        want = methods(tracker);
        tracker_free(tracker);

        tracker = apply_pieces(head, batch, pieces, replies);
        got = tracker_knowledge(tracker);
        ck_assert_str_eq(got, want_all);
        ck_assert_uint_eq(replies->len, want_replies->len);
        ck_assert_mem_eq(replies->data, want_replies->data, replies->len);
        ck_assert_uint_ge(pieces->len, SHAPES[_i].least);
        ck_assert_uint_le(pieces->len, SHAPES[_i].most);
        tracker_free(tracker);
        for (i = 1; i <= pieces->len; i++)
                check_restart(head, batch, pieces, i, want);
}
END_TEST

enum { N_CROWD = 20000, MAX_PIECE = (1 << 20) + 1000 };

/* Appends records of three streams, more records of one time than one piece has. */
static void put_crowd(GByteArray *out)
{
        unsigned i;

        for (i = 0; i < N_CROWD; i++)
                script_load(out, i % 3, 100, 0x1000 + 16 * i);
        for (i = 0; i < 3; i++)
                script_load(out, i, 200 + i, 0x9000000 + 16 * i);
        script_commit(out);
}

START_TEST(test_crowd)
{
        g_autoptr(GPtrArray) pieces = g_ptr_array_new_with_free_func(byte_array_destroy);
        g_autoptr(GByteArray) head = g_byte_array_new(), batch = g_byte_array_new(),
                              replies = g_byte_array_new();
        const TrackerStats *stats;
        Tracker *tracker;
        uint64_t n_loads;
        guint i;

        put_long_head(head);
        put_crowd(batch);
        ck_assert_uint_gt(batch->len, MAX_PIECE);
        tracker = apply_pieces(head, batch, pieces, replies);
        for (i = 0; i < pieces->len; i++)
                ck_assert_uint_le(((const GByteArray *)pieces->pdata[i])->len, MAX_PIECE);
        stats = tracker_stats(tracker);
        n_loads = stats->records[EVENT_KIND_METHOD_LOAD];
        ck_assert_uint_gt(n_loads, N_CROWD / 3);
        ck_assert_uint_lt(n_loads, N_CROWD);
        ck_assert_uint_eq(stats->known, 0);
        ck_assert_uint_eq(stats->gaps, 3);
        ck_assert_uint_eq(stats->discarded_events, 0);
        /* Later batches are not lost. */
        for (i = 0; i < 3; i++)
                ck_assert_uint_eq(tracker_stream_watermark(tracker_stream_by_number(tracker, i)),
                                  200 + i);
        tracker_free(tracker);
}
END_TEST

/* If no other client waits, a batch is applied whole, whatever its records are. */
START_TEST(test_crowd_at_once)
{
        g_autoptr(GByteArray) script = g_byte_array_new();
        Tracker *tracker = tracker_new();

        put_long_head(script);
        put_crowd(script);
        apply_at_once(tracker, script, NULL);
        ck_assert_uint_eq(tracker_stats(tracker)->records[EVENT_KIND_METHOD_LOAD], N_CROWD + 3);
        ck_assert_uint_eq(tracker_stats(tracker)->gaps, 0);
        tracker_free(tracker);
}
END_TEST

/* Thousands of empty batches in one read: other clients have their turn in between. */
START_TEST(test_many_batches)
{
        g_autoptr(GByteArray) script = g_byte_array_new();
        Tracker *tracker = tracker_new();
        IngestConnection *connection = ingest_connection_new(tracker, false);
        unsigned n = 0, i;

        put_long_head(script);
        ck_assert(ingest_connection_feed(connection, script->data, script->len));
        g_byte_array_set_size(script, 0);
        for (i = 0; i < 1000; i++)
                script_commit(script);
        ingest_connection_set_turn(connection, 1);
        ck_assert(ingest_connection_feed(connection, script->data, script->len));
        ck_assert_uint_lt(ingest_connection_n_commits(connection), 1000);
        while (!ingest_connection_run(connection))
                n++;
        ck_assert_uint_gt(n, 0);
        ck_assert_uint_eq(ingest_connection_n_commits(connection), 1000);
        ingest_connection_free(connection);
        tracker_free(tracker);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("ingest-pieces");
        TCase *tcase = tcase_create("ingest-pieces");

        tcase_set_timeout(tcase, 60);
        tcase_add_loop_test(tcase, test_pieces, 0, _SHAPE_MAX);
        tcase_add_test(tcase, test_crowd);
        tcase_add_test(tcase, test_crowd_at_once);
        tcase_add_test(tcase, test_many_batches);
        suite_add_tcase(suite, tcase);
        return suite;
}
