/* SPDX-License-Identifier: MIT */

/* A feeder's connection: the replies and the result are the same wherever its bytes are cut. */

#include "wire/ingest-connection.h"

#include "support/ingest-script.h"
#include "support/suite.h"
#include "wire/ingest.h"

#include <string.h>

/* Returns a valid conversation: three batches, two streams, one of which is closed. */
static GByteArray *good_script(void)
{
        GByteArray *out = g_byte_array_new();

        script_hello(out);
        script_stream_open(out, 0);
        script_load(out, 0, 10, 0x1000);
        script_stream_open(out, 1);
        script_load(out, 1, 11, 0x2000);
        script_commit(out);
        script_load(out, 0, 20, 0x3000);
        ingest_put_gap(out, 0, &(StreamGap){GAP_EVENTS, 21, 22, 5});
        ingest_put_progress(out, 1, 25);
        script_commit(out);
        ingest_put_stream_close(out, 1);
        ingest_put_report(out, &(FeederReport){9, 8, 7, 6, 0});
        script_load(out, 0, 30, 0x4000);
        ingest_put_process_gap(out, &(ProcessGap){{0, 100}, 12, UINT64_MAX});
        script_commit(out);
        return out;
}

typedef struct Outcome {
        char *knowledge;    /* owned */
        GByteArray *output; /* owned */
        char *error;        /* owned */
        FeederReport report;
        uint64_t n_commits;
} Outcome;

static void outcome_clear(Outcome *outcome)
{
        g_free(outcome->knowledge);
        g_free(outcome->error);
        g_byte_array_unref(outcome->output);
}

/* Feeds BYTES in pieces: the first ends at CUT, the others have STEP bytes. */
static void converse(Tracker *tracker, const uint8_t *bytes, size_t n, size_t cut, size_t step,
                     Outcome *ret_outcome)
{
        IngestConnection *session = ingest_connection_new(tracker, false);
        size_t at = 0;

        while (at < n) {
                size_t n_piece = at < cut ? cut - at : MIN(step, n - at);
                /* A copy, so that the address sanitizer sees a read beyond the end. */
                g_autofree uint8_t *piece = g_memdup2(bytes + at, n_piece);

                ingest_connection_feed(session, piece, n_piece);
                at += n_piece;
        }
        *ret_outcome = (Outcome){
                .output = g_byte_array_ref(ingest_connection_output(session)),
                .error = g_strdup(ingest_connection_error(session)),
                .report = *ingest_connection_report(session),
                .n_commits = ingest_connection_n_commits(session),
        };
        ingest_connection_free(session);
        ret_outcome->knowledge = tracker_knowledge(tracker);
}

static void check_same(const Outcome *got, const Outcome *want)
{
        ck_assert_str_eq(got->knowledge, want->knowledge);
        ck_assert_uint_eq(got->output->len, want->output->len);
        ck_assert_mem_eq(got->output->data, want->output->data, want->output->len);
        ck_assert(!g_strcmp0(got->error, want->error));
        ck_assert_mem_eq(&got->report, &want->report, sizeof(want->report));
        ck_assert(got->n_commits == want->n_commits);
}

static void check_every_cut(const GByteArray *script)
{
        Tracker *tracker = tracker_new();
        Outcome whole, cut;
        size_t i;

        converse(tracker, script->data, script->len, script->len, 1, &whole);
        tracker_free(tracker);
        for (i = 0; i <= script->len; i++) {
                tracker = tracker_new();
                /* CUT 0 means byte by byte. */
                converse(tracker, script->data, script->len, i, i ? script->len : 1, &cut);
                check_same(&cut, &whole);
                outcome_clear(&cut);
                tracker_free(tracker);
        }
        outcome_clear(&whole);
}

/* Returns the frames of BYTES as "TYPE" or "TYPE stream time", separated by blanks. */
static char *frames(const GByteArray *bytes)
{
        GString *text = g_string_new(NULL);
        size_t at = 0;

        while (at < bytes->len) {
                IngestFrame frame;
                ssize_t n = ingest_frame_next(bytes->data + at, bytes->len - at, &frame);
                uint32_t stream;
                uint64_t time;

                ck_assert_int_gt(n, 0);
                at += (size_t)n;
                if (text->len)
                        g_string_append_c(text, ' ');
                switch ((int)frame.type) {
                case INGEST_HELLO:
                        g_string_append(text, "hello");
                        break;
                case INGEST_ACK:
                        ck_assert_int_eq(ingest_get_stream_time(&frame, &stream, &time), 0);
                        g_string_append_printf(text, "ack:%u:%u", stream, (unsigned)time);
                        break;
                case INGEST_COMMITTED:
                        g_string_append(text, "committed");
                        break;
                case INGEST_HOLD:
                        g_string_append(text, "hold");
                        break;
                case INGEST_GO:
                        g_string_append(text, "go");
                        break;
                case INGEST_ERROR:
                        g_string_append(text, "error");
                        break;
                default:
                        g_string_append_printf(text, "?%d", (int)frame.type);
                }
        }
        return g_string_free(text, FALSE);
}

START_TEST(test_good)
{
        g_autoptr(GByteArray) script = good_script();
        g_autofree char *replies = NULL;
        Tracker *tracker = tracker_new();
        Outcome outcome;

        converse(tracker, script->data, script->len, script->len, 1, &outcome);
        replies = frames(outcome.output);
        ck_assert_str_eq(replies, "hello go ack:0:0 ack:1:0 ack:0:10 ack:1:11 committed "
                                  "ack:0:20 committed ack:0:30 committed");
        ck_assert_ptr_null(outcome.error);
        ck_assert_uint_eq(outcome.n_commits, 3);
        ck_assert(outcome.report.events == 9 && outcome.report.decode_errors == 6);
        ck_assert_ptr_nonnull(strstr(outcome.knowledge, "\"start\":\"0x4000\""));
        ck_assert_ptr_nonnull(strstr(outcome.knowledge, "\"discarded_events\":5"));
        ck_assert_ptr_nonnull(strstr(outcome.knowledge, "\"gap_since\":\"0.000000012\""));
        ck_assert_ptr_nonnull(strstr(outcome.knowledge, "\"silent_processes\":1"));
        outcome_clear(&outcome);
        tracker_free(tracker);
}
END_TEST

START_TEST(test_good_cut)
{
        g_autoptr(GByteArray) script = good_script();

        check_every_cut(script);
}
END_TEST

/* The feeder vanishes after each byte: the tracker has exactly the committed batches. */
START_TEST(test_vanished)
{
        static const char *const STARTS[] = {"\"0x1000\"", "\"0x2000\"", "\"0x3000\"",
                                             "\"0x4000\""};
        static const unsigned N_STARTS[] = {0, 2, 3, 4}; /* position -> number of commits */
        g_autoptr(GByteArray) script = good_script();
        size_t n, i;

        for (n = 0; n <= script->len; n++) {
                Tracker *tracker = tracker_new();
                Outcome outcome;

                converse(tracker, script->data, n, n, 1, &outcome);
                ck_assert(outcome.n_commits < G_N_ELEMENTS(N_STARTS));
                for (i = 0; i < G_N_ELEMENTS(STARTS); i++)
                        ck_assert_msg(!strstr(outcome.knowledge, STARTS[i]) ==
                                              (i >= N_STARTS[outcome.n_commits]),
                                      "%s after %zu bytes", STARTS[i], n);
                outcome_clear(&outcome);

                /* A second feeder sends everything again: the tracker gets the rest, once. */
                converse(tracker, script->data, script->len, script->len, 1, &outcome);
                ck_assert_uint_eq(tracker_stats(tracker)->records[EVENT_KIND_METHOD_LOAD], 4);
                ck_assert_uint_eq(tracker_stats(tracker)->discarded_events, 5);
                outcome_clear(&outcome);
                tracker_free(tracker);
        }
}
END_TEST

/* Conversations with a fault in the batch after a valid batch. */
typedef void (*PutFault)(GByteArray *out);

static void put_bad_length(GByteArray *out)
{
        static const uint8_t HEADER[] = {255, 255, 255, 255, INGEST_RECORD, 0, 0, 0};

        g_byte_array_append(out, HEADER, sizeof(HEADER));
}

static void put_type(GByteArray *out, uint8_t type)
{
        const uint8_t header[] = {0, 0, 0, 0, type, 0, 0, 0};

        g_byte_array_append(out, header, sizeof(header));
}

static void put_unknown_type(GByteArray *out)
{
        put_type(out, 63);
        script_commit(out);
}

static void put_daemons_frame(GByteArray *out)
{
        ingest_put_empty(out, INGEST_COMMITTED);
        script_commit(out);
}

static void put_second_hello(GByteArray *out)
{
        script_hello(out);
        script_commit(out);
}

static void put_empty_record(GByteArray *out)
{
        put_type(out, INGEST_RECORD);
        script_commit(out);
}

static void put_backward_gap(GByteArray *out)
{
        ingest_put_process_gap(out, &(ProcessGap){{0, 100}, 12, 11});
        script_commit(out);
}

static void put_short_gap(GByteArray *out)
{
        put_type(out, INGEST_PROCESS_GAP);
        script_commit(out);
}

static void put_unknown_stream(GByteArray *out)
{
        script_load(out, 1, 50, 0x6000);
        script_commit(out);
}

static void put_skipped_number(GByteArray *out)
{
        script_stream_open(out, 2);
}

static void put_used_number(GByteArray *out)
{
        script_stream_open(out, 0);
}

static void put_closed_stream(GByteArray *out)
{
        ingest_put_stream_close(out, 0);
        script_commit(out);
        script_load(out, 0, 60, 0x7000);
        script_commit(out);
}

static void put_broken_record(GByteArray *out)
{
        guint begin = out->len;

        script_load(out, 0, 50, 0x6000);
        /* Overwrite a byte of the event's version. */
        out->data[begin + INGEST_HEADER_SIZE + 4 + 8 + 8 + 4 + 4 + 1] = 0;
        script_commit(out);
}

static const PutFault FAULTS[] = {
        put_bad_length,    put_unknown_type,   put_daemons_frame,  put_second_hello,
        put_empty_record,  put_unknown_stream, put_skipped_number, put_used_number,
        put_broken_record, put_closed_stream,  put_backward_gap,   put_short_gap,
};

START_TEST(test_fault)
{
        g_autoptr(GByteArray) script = g_byte_array_new();
        Tracker *tracker = tracker_new();
        g_autofree char *replies = NULL;
        Outcome outcome;

        script_hello(script);
        script_stream_open(script, 0);
        script_load(script, 0, 10, 0x1000);
        script_commit(script);
        script_load(script, 0, 40, 0x5000); /* in one batch with the fault */
        FAULTS[_i](script);
        script_load(script, 0, 70, 0x8000);
        script_commit(script);

        converse(tracker, script->data, script->len, script->len, 1, &outcome);
        replies = frames(outcome.output);
        ck_assert(g_str_has_prefix(replies, "hello go ack:0:0 ack:0:10 committed "));
        ck_assert(g_str_has_suffix(replies, " error"));
        ck_assert_ptr_nonnull(outcome.error);
        ck_assert_ptr_nonnull(strstr(outcome.knowledge, "\"0x1000\""));
        if (FAULTS[_i] != put_closed_stream)
                ck_assert_ptr_null(strstr(outcome.knowledge, "\"0x5000\""));
        ck_assert_ptr_null(strstr(outcome.knowledge, "\"0x6000\""));
        ck_assert_ptr_null(strstr(outcome.knowledge, "\"0x7000\""));
        ck_assert_ptr_null(strstr(outcome.knowledge, "\"0x8000\""));
        outcome_clear(&outcome);
        tracker_free(tracker);
        check_every_cut(script);
}
END_TEST

/* Conversations without a valid HELLO get an error message. */
static const struct {
        const char *bytes;
        size_t n;
        const char *error; /* part of the message */
} OPENINGS[] = {
        {"\x08\0\0\0\1\0\0\0\2\0\0\0\0\0\0\0", 16, "version 2"},
        {"\x08\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0", 16, "version 0"},
        {"\0\0\0\0\1\0\0\0", 8, "HELLO"},
        {"\0\0\0\0\7\0\0\0", 8, "HELLO"},
        {"GET / HTTP/1.1\r\n\r\n", 18, "length"},
        {"{\"method\":\"x\"}", 14, "length"},
};

START_TEST(test_opening)
{
        g_autoptr(GByteArray) script = g_byte_array_new();
        Tracker *tracker = tracker_new();
        g_autofree char *replies = NULL;
        Outcome outcome;

        g_byte_array_append(script, (const uint8_t *)OPENINGS[_i].bytes, (guint)OPENINGS[_i].n);
        converse(tracker, script->data, script->len, script->len, 1, &outcome);
        replies = frames(outcome.output);
        ck_assert_str_eq(replies, "error");
        ck_assert_ptr_nonnull(strstr(outcome.error, OPENINGS[_i].error));
        outcome_clear(&outcome);
        tracker_free(tracker);
        check_every_cut(script);
}
END_TEST

START_TEST(test_hold)
{
        g_autoptr(GByteArray) script = good_script();
        Tracker *tracker = tracker_new();
        IngestConnection *session = ingest_connection_new(tracker, true);
        g_autofree char *held = NULL, *released = NULL;

        ck_assert(ingest_connection_feed(session, script->data, script->len));
        held = frames(ingest_connection_output(session));
        /* HOLD asks the feeder to stop; the daemon still takes records that arrive. */
        ck_assert(g_str_has_prefix(held, "hello hold ack:0:0 "));
        ck_assert_uint_eq(ingest_connection_n_commits(session), 3);
        g_byte_array_set_size(ingest_connection_output(session), 0);
        ingest_connection_go(session);
        ingest_connection_go(session);
        released = frames(ingest_connection_output(session));
        ck_assert_str_eq(released, "go");
        ingest_connection_free(session);
        tracker_free(tracker);
}
END_TEST

START_TEST(test_endless_batch)
{
        g_autoptr(GByteArray) script = g_byte_array_new();
        Tracker *tracker = tracker_new();
        IngestConnection *session = ingest_connection_new(tracker, false);
        g_autoptr(GByteArray) piece = g_byte_array_new();
        size_t n_sent = 0;

        script_hello(script);
        script_stream_open(script, 0);
        ck_assert(ingest_connection_feed(session, script->data, script->len));
        while (piece->len < (1u << 20))
                script_load(piece, 0, 10, 0x1000);
        while (ingest_connection_feed(session, piece->data, piece->len)) {
                n_sent += piece->len;
                ck_assert_uint_le(n_sent, INGEST_MAX_BATCH);
        }
        ck_assert_uint_gt(n_sent, INGEST_MAX_BATCH - 2 * piece->len);
        ck_assert_ptr_nonnull(ingest_connection_error(session));
        ck_assert_uint_eq(tracker_stats(tracker)->records[EVENT_KIND_METHOD_LOAD], 0);
        ingest_connection_free(session);
        tracker_free(tracker);
}
END_TEST

/* An event that only a newer feeder knows is skipped; the rest of its batch is applied. */
START_TEST(test_newer_event)
{
        g_autoptr(GByteArray) script = g_byte_array_new();
        Tracker *tracker = tracker_new();
        Outcome outcome;
        guint begin;

        script_hello(script);
        script_stream_open(script, 0);
        begin = script->len;
        script_load(script, 0, 10, 0x1000);
        script->data[begin + INGEST_HEADER_SIZE + 4 + 8 + 8 + 4 + 4 + 1] = 200;
        script_load(script, 0, 11, 0x2000);
        script_commit(script);
        converse(tracker, script->data, script->len, script->len, 1, &outcome);
        ck_assert_ptr_null(outcome.error);
        ck_assert_ptr_null(strstr(outcome.knowledge, "\"0x1000\""));
        ck_assert_ptr_nonnull(strstr(outcome.knowledge, "\"0x2000\""));
        outcome_clear(&outcome);
        tracker_free(tracker);
}
END_TEST

START_TEST(test_many_streams)
{
        g_autoptr(GByteArray) script = g_byte_array_new();
        Tracker *tracker = tracker_new();
        IngestConnection *session = ingest_connection_new(tracker, false);
        uint32_t i;

        script_hello(script);
        for (i = 0; i < INGEST_MAX_STREAMS; i++)
                script_stream_open(script, i);
        ck_assert(ingest_connection_feed(session, script->data, script->len));
        g_byte_array_set_size(script, 0);
        script_stream_open(script, INGEST_MAX_STREAMS);
        ck_assert(!ingest_connection_feed(session, script->data, script->len));
        ingest_connection_free(session);
        tracker_free(tracker);
}
END_TEST

/* A feeder runs for years: it can reuse numbers of closed streams. */
START_TEST(test_reused_numbers)
{
        Tracker *tracker = tracker_new();
        IngestConnection *connection = ingest_connection_new(tracker, false);
        uint32_t i, round;

        for (round = 0; round < 3; round++) {
                g_autoptr(GByteArray) script = g_byte_array_new();

                if (round == 0)
                        script_hello(script);
                for (i = 0; i < INGEST_MAX_STREAMS; i++) {
                        /* In another order than by number, once all numbers were in use. */
                        uint32_t number = round ? INGEST_MAX_STREAMS - 1 - i : i;

                        script_stream_open_as(script, number, round * INGEST_MAX_STREAMS + i);
                        script_load(script, number, 10,
                                    0x1000 * (1 + round * INGEST_MAX_STREAMS + i));
                }
                script_commit(script);
                for (i = 0; i < INGEST_MAX_STREAMS; i++)
                        ingest_put_stream_close(script, i);
                script_commit(script);
                ck_assert_msg(ingest_connection_feed(connection, script->data, script->len),
                              "round %u: %s", round, ingest_connection_error(connection));
        }
        ck_assert_uint_eq(tracker_stats(tracker)->records[EVENT_KIND_METHOD_LOAD],
                          3 * INGEST_MAX_STREAMS);
        ingest_connection_free(connection);
        tracker_free(tracker);
}
END_TEST

/* A number is free only after the batch that closes its stream; the watermark belongs to the new
 * stream. */
START_TEST(test_reused_at_once)
{
        g_autoptr(GByteArray) script = g_byte_array_new();
        g_autofree char *replies = NULL;
        Tracker *tracker = tracker_new();
        Outcome outcome;

        script_hello(script);
        script_stream_open(script, 0);
        script_load(script, 0, 10, 0x1000);
        ingest_put_stream_close(script, 0);
        script_commit(script);
        script_stream_open_as(script, 0, 1);
        script_load(script, 0, 5, 0x2000);
        script_commit(script);
        ingest_put_stream_close(script, 0);
        script_stream_open_as(script, 0, 2);
        script_commit(script);
        converse(tracker, script->data, script->len, script->len, 1, &outcome);
        replies = frames(outcome.output);
        ck_assert_str_eq(replies, "hello go ack:0:0 committed ack:0:0 ack:0:5 committed error");
        outcome_clear(&outcome);
        tracker_free(tracker);
        check_every_cut(script);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("ingest-connection");
        TCase *tcase = tcase_create("ingest-connection");

        tcase_set_timeout(tcase, 60);
        tcase_add_loop_test(tcase, test_fault, 0, G_N_ELEMENTS(FAULTS));
        tcase_add_loop_test(tcase, test_opening, 0, G_N_ELEMENTS(OPENINGS));
        tcase_add_test(tcase, test_vanished);
        tcase_add_test(tcase, test_endless_batch);
        tcase_add_test(tcase, test_many_streams);
        tcase_add_test(tcase, test_good);
        tcase_add_test(tcase, test_good_cut);
        tcase_add_test(tcase, test_hold);
        tcase_add_test(tcase, test_newer_event);
        tcase_add_test(tcase, test_reused_at_once);
        tcase_add_test(tcase, test_reused_numbers);
        suite_add_tcase(suite, tcase);
        return suite;
}
