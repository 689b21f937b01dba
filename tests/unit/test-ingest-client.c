/* SPDX-License-Identifier: MIT */

/*
 * A feeder's side of the protocol: the events are the same wherever the daemon's bytes are cut; and
 * after a disconnect at any byte, the next connection loses nothing.
 */

#include "wire/ingest-client.h"

#include "support/feeding.h"
#include "support/suite.h"
#include "wire/ingest-connection.h"

#include <string.h>

#define BASE 0x1000

static StreamIdentity *identity_new(uint64_t stream_id)
{
        StreamIdentity *identity = stream_identity_new();

        memcpy(identity->trace_uuid, "0123456789abcdef", 16);
        identity->stream_id = stream_id;
        identity->scheme = BUFFER_SCHEME_PER_UID;
        g_string_assign(identity->clock_name, "monotonic");
        return identity;
}

static IngestStream *open_stream(IngestClient *client, uint64_t stream_id, void *data)
{
        StreamIdentity *identity = identity_new(stream_id);
        IngestStream *stream = ingest_client_open(client, identity, data);

        stream_identity_free(identity);
        return stream;
}

static void make_load(uint64_t time, uint64_t start, Record *ret_record)
{
        static const Value NAME = {.data = (const uint8_t *)"Main", .n = 4};
        const Event *event = event_by_id(PROVIDER_RUNTIME, 143, 1);

        *ret_record = (Record){.event = event, .time = time, .process = {0, 100}, .tid = 100};
        ret_record->values[event_field(event, FIELD_MethodID)].u = start + 1;
        ret_record->values[event_field(event, FIELD_MethodStartAddress)].u = start;
        ret_record->values[event_field(event, FIELD_MethodSize)].u = 16;
        ret_record->values[event_field(event, FIELD_MethodName)] = NAME;
}

static void put_load(IngestClient *client, const IngestStream *stream, uint64_t time)
{
        Record record;

        make_load(time, BASE * time, &record);
        ck_assert_int_eq(ingest_client_put_record(client, stream, &record, (int64_t)time),
                         INGEST_PUT_DONE);
}

static void commit_all(IngestClient *client)
{
        ingest_client_commit(client, ingest_client_batch(client)->len, NULL);
}

/* Appends all pending events as "type" or "type stream:watermark", separated by blanks. */
static void append_events(IngestClient *client, GString *text)
{
        IngestClientEvent event;
        IngestStream *stream;

        while ((event = ingest_client_next(client, &stream)) != INGEST_CLIENT_NOTHING) {
                if (text->len)
                        g_string_append_c(text, ' ');
                switch (event) {
                case INGEST_CLIENT_GREETED:
                        g_string_append(text, "greeted");
                        break;
                case INGEST_CLIENT_ACK:
                        g_string_append_printf(text, "ack:%s:%u", (const char *)stream->data,
                                               (unsigned)stream->watermark);
                        break;
                case INGEST_CLIENT_COMMITTED:
                        g_string_append(text, "committed");
                        break;
                case INGEST_CLIENT_CREDIT:
                        g_string_append(text, ingest_client_state(client) == INGEST_CLIENT_GOING
                                                      ? "go"
                                                      : "hold");
                        break;
                case INGEST_CLIENT_BROKEN:
                        g_string_append_printf(text, "broken:%d",
                                               (int)ingest_client_failure(client));
                        return;
                default:
                        ck_abort();
                }
        }
}

/* Returns a client with two streams and two batches in flight. */
static IngestClient *busy_client(GByteArray *out)
{
        IngestClient *client = ingest_client_new("test", false);
        IngestStream *a, *b;

        ingest_client_connect(client, out);
        a = open_stream(client, 1, (void *)"a");
        b = open_stream(client, 2, (void *)"b");
        put_load(client, a, 10);
        put_load(client, b, 11);
        commit_all(client);
        ingest_put_stream_close(ingest_client_batch(client), b->number);
        commit_all(client);
        return client;
}

/* Frames of the daemon, and the events of the busy client. */
typedef void (*PutReplies)(GByteArray *out);

static void put_hello(GByteArray *out)
{
        ingest_put_hello(out, INGEST_VERSION, "daemon");
}

static void put_good(GByteArray *out)
{
        put_hello(out);
        ingest_put_empty(out, INGEST_HOLD);
        ingest_put_empty(out, INGEST_GO);
        ingest_put_ack(out, 0, 5);
        ingest_put_ack(out, 1, 0);
        ingest_put_empty(out, INGEST_HOLD);
        ingest_put_empty(out, INGEST_HOLD);
        ingest_put_ack(out, 0, 10);
        ingest_put_empty(out, INGEST_COMMITTED);
        ingest_put_empty(out, INGEST_GO);
        ingest_put_empty(out, INGEST_COMMITTED);
}

static void put_error(GByteArray *out)
{
        put_hello(out);
        ingest_put_error(out, "too\nmuch");
        put_hello(out);
}

static void put_error_first(GByteArray *out)
{
        ingest_put_error(out, "go away");
}

static void put_other_version(GByteArray *out)
{
        ingest_put_hello(out, INGEST_VERSION + 1, "daemon");
}

static void put_no_hello(GByteArray *out)
{
        ingest_put_empty(out, INGEST_GO);
}

static void put_hello_twice(GByteArray *out)
{
        put_hello(out);
        put_hello(out);
}

static void put_http(GByteArray *out)
{
        g_byte_array_append(out, (const uint8_t *)"HTTP/1.1 400 \r\n", 15);
}

static void put_unknown_stream(GByteArray *out)
{
        put_hello(out);
        ingest_put_ack(out, 2, 0);
}

static void put_too_many_commits(GByteArray *out)
{
        put_hello(out);
        ingest_put_empty(out, INGEST_COMMITTED);
        ingest_put_empty(out, INGEST_COMMITTED);
        ingest_put_empty(out, INGEST_COMMITTED);
}

static void put_feeders_frame(GByteArray *out)
{
        put_hello(out);
        ingest_put_empty(out, INGEST_COMMIT);
}

static const struct {
        PutReplies put;
        const char *events;
        const char *reason; /* part of the reason, or NULL */
} TALKS[] = {
        {put_good, "greeted go ack:a:5 hold ack:a:10 committed go committed", NULL},
        {put_error, "greeted broken:3", "too much"},
        {put_error_first, "broken:3", "go away"},
        {put_other_version, "broken:2", "version 2"},
        {put_no_hello, "broken:1", "not clrsymd"},
        {put_hello_twice, "greeted broken:1", "not clrsymd"},
        {put_http, "broken:1", "not clrsymd"},
        {put_unknown_stream, "greeted broken:1", "not clrsymd"},
        {put_too_many_commits, "greeted committed committed broken:1", "not clrsymd"},
        {put_feeders_frame, "greeted broken:1", "not clrsymd"},
};

START_TEST(test_talk)
{
        g_autoptr(GByteArray) replies = g_byte_array_new();
        size_t cut;

        TALKS[_i].put(replies);
        for (cut = 0; cut <= replies->len; cut++) {
                g_autoptr(GByteArray) out = g_byte_array_new();
                g_autoptr(IngestClient) client = busy_client(out);
                g_autoptr(GString) events = g_string_new(NULL);
                size_t at = 0;

                while (at < replies->len) {
                        /* CUT 0 means byte by byte. */
                        size_t n = cut == 0 ? 1 : at < cut ? cut : replies->len - at;
                        /* A copy, so that the address sanitizer sees a read beyond the end. */
                        g_autofree uint8_t *piece = g_memdup2(replies->data + at, n);

                        ingest_client_feed(client, piece, n);
                        append_events(client, events);
                        at += n;
                        if (ingest_client_state(client) == INGEST_CLIENT_FAILED)
                                break;
                }
                ck_assert_str_eq(events->str, TALKS[_i].events);
                ck_assert((ingest_client_failure(client) == INGEST_CLIENT_OK) == !TALKS[_i].reason);
                if (TALKS[_i].reason)
                        ck_assert_ptr_nonnull(
                                strstr(ingest_client_reason(client), TALKS[_i].reason));
        }
}
END_TEST

START_TEST(test_credit)
{
        g_autoptr(GByteArray) out = g_byte_array_new(), replies = g_byte_array_new();
        g_autoptr(IngestClient) client = ingest_client_new("test", false);
        g_autoptr(GString) events = g_string_new(NULL);
        unsigned i;

        ingest_client_connect(client, out);
        ck_assert(!ingest_client_may_send(client));
        put_hello(replies);
        ingest_put_empty(replies, INGEST_GO);
        ingest_client_feed(client, replies->data, replies->len);
        append_events(client, events);
        for (i = 0; i < INGEST_CLIENT_MAX_IN_FLIGHT; i++) {
                ck_assert(ingest_client_may_send(client));
                ck_assert_uint_eq(ingest_client_n_in_flight(client), i);
                commit_all(client);
        }
        ck_assert(!ingest_client_may_send(client));
        g_byte_array_set_size(replies, 0);
        ingest_put_empty(replies, INGEST_COMMITTED);
        ingest_client_feed(client, replies->data, replies->len);
        append_events(client, events);
        ck_assert(ingest_client_may_send(client));
        g_byte_array_set_size(replies, 0);
        ingest_put_empty(replies, INGEST_HOLD);
        ingest_client_feed(client, replies->data, replies->len);
        append_events(client, events);
        ck_assert(!ingest_client_may_send(client));
        ck_assert_str_eq(events->str, "greeted go committed hold");
}
END_TEST

/* A batch never ends between two records of equal time. */
START_TEST(test_settled)
{
        g_autoptr(GByteArray) out = g_byte_array_new(), last = g_byte_array_new();
        g_autoptr(IngestClient) client = ingest_client_new("test", false);
        const GByteArray *batch = ingest_client_batch(client);
        IngestStream *stream;
        size_t n_first;

        ingest_client_connect(client, out);
        stream = open_stream(client, 1, NULL);
        ck_assert_uint_eq(ingest_client_settled(client, 0), 0);
        put_load(client, stream, 10);
        ck_assert_uint_eq(ingest_client_settled(client, 10), 0);
        n_first = batch->len;
        ck_assert_uint_eq(ingest_client_settled(client, 11), n_first);
        put_load(client, stream, 20);
        put_load(client, stream, 20);
        ck_assert_uint_eq(ingest_client_settled(client, 20), n_first);
        ck_assert_uint_eq(ingest_client_settled(client, 21), 3 * n_first);

        g_byte_array_set_size(out, 0);
        ingest_put_progress(last, stream->number, 20);
        ingest_client_commit(client, n_first, last);
        ck_assert_uint_eq(out->len, n_first + last->len + INGEST_HEADER_SIZE);
        ck_assert_uint_eq(batch->len, 2 * n_first);
        ck_assert_uint_eq(ingest_client_settled(client, 20), 0);
        put_load(client, stream, 20);
        ck_assert_uint_eq(ingest_client_settled(client, 20), 0);
        ck_assert_uint_eq(ingest_client_settled(client, 21), 3 * n_first);

        /* This also holds for a batch above the usual size. */
        while (batch->len < INGEST_CLIENT_BATCH_SIZE)
                put_load(client, stream, 20);
        ck_assert(!ingest_client_is_due(client, 20));
        ck_assert(ingest_client_is_due(client, 21));
}
END_TEST

START_TEST(test_too_large)
{
        g_autoptr(IngestClient) client = ingest_client_new("test", false);
        g_autoptr(GByteArray) out = g_byte_array_new();
        g_autofree uint8_t *name = g_malloc0(INGEST_MAX_PAYLOAD);
        IngestStream *stream;
        Record record;

        ingest_client_connect(client, out);
        stream = open_stream(client, 1, NULL);
        make_load(10, BASE, &record);
        memset(name, 'x', INGEST_MAX_PAYLOAD);
        record.values[event_field(record.event, FIELD_MethodName)] =
                (Value){.data = name, .n = INGEST_MAX_PAYLOAD};
        ck_assert_int_eq(ingest_client_put_record(client, stream, &record, 10),
                         INGEST_PUT_TOO_LARGE);
        ck_assert_uint_eq(ingest_client_batch(client)->len, 0);
        record.values[event_field(record.event, FIELD_MethodName)].n = INGEST_MAX_PAYLOAD - 256;
        while (ingest_client_batch(client)->len <= INGEST_MAX_BATCH - INGEST_MAX_PAYLOAD)
                ck_assert_int_eq(ingest_client_put_record(client, stream, &record, 10),
                                 INGEST_PUT_DONE);
        while (ingest_client_batch(client)->len <= INGEST_MAX_BATCH) {
                IngestPut put = ingest_client_put_record(client, stream, &record, 10);

                ck_assert_int_eq(put, ingest_client_batch(client)->len > INGEST_MAX_BATCH
                                              ? INGEST_PUT_BATCH_FULL
                                              : INGEST_PUT_DONE);
        }
}
END_TEST

/* The client reuses numbers of closed streams when all other numbers are in use. */
START_TEST(test_numbers)
{
        g_autoptr(GByteArray) out = g_byte_array_new(), replies = g_byte_array_new();
        g_autoptr(IngestClient) client = ingest_client_new("test", false);
        IngestStream *streams[INGEST_MAX_STREAMS];
        uint32_t i;

        ingest_client_connect(client, out);
        put_hello(replies);
        for (i = 0; i < INGEST_MAX_STREAMS; i++) {
                streams[i] = open_stream(client, i, NULL);
                ck_assert_uint_eq(streams[i]->number, i);
                ck_assert_ptr_eq(ingest_client_stream(client, i), streams[i]);
                ingest_put_ack(replies, i, 0);
        }
        ck_assert_ptr_null(open_stream(client, i, NULL));
        ck_assert(!ingest_client_is_ready(client));
        ingest_put_stream_close(ingest_client_batch(client), 7);
        ingest_put_stream_close(ingest_client_batch(client), 7);
        ingest_put_stream_close(ingest_client_batch(client), 9);
        ck_assert_ptr_nonnull(ingest_client_stream(client, 7));
        commit_all(client);
        commit_all(client);
        ck_assert_ptr_null(ingest_client_stream(client, 7));
        ck_assert_ptr_null(open_stream(client, i, NULL));
        ingest_put_empty(replies, INGEST_COMMITTED);
        ingest_client_feed(client, replies->data, replies->len);
        while (ingest_client_next(client, NULL) != INGEST_CLIENT_COMMITTED)
                ck_assert_ptr_null(open_stream(client, i, NULL));
        ck_assert(ingest_client_is_ready(client));
        ck_assert_uint_eq(open_stream(client, i, NULL)->number, 7);
        ck_assert_uint_eq(open_stream(client, i, NULL)->number, 9);
        ck_assert_ptr_null(open_stream(client, i, NULL));
        ck_assert(!ingest_client_is_ready(client));
}
END_TEST

/* A daemon whose connections break: after N_LEFT bytes, no byte passes in either direction. */
typedef struct Link {
        Tracker *tracker;
        IngestClient *client;
        IngestConnection *connection;
        GByteArray *out; /* owned: bytes from the client */
        size_t n_left;
        bool is_broken;
} Link;

static void link_connect(Link *link, size_t n_left)
{
        ingest_connection_free(link->connection);
        link->connection = ingest_connection_new(link->tracker, false);
        g_byte_array_set_size(link->out, 0);
        link->n_left = n_left;
        link->is_broken = false;
        ingest_client_disconnect(link->client);
        ingest_client_connect(link->client, link->out);
}

static void link_carry(Link *link)
{
        GByteArray *replies = ingest_connection_output(link->connection);
        size_t n = MIN(link->n_left, link->out->len);

        if (link->is_broken)
                return;
        ck_assert(ingest_connection_feed(link->connection, link->out->data, n));
        link->n_left -= n;
        link->is_broken = n < link->out->len;
        g_byte_array_remove_range(link->out, 0, (guint)n);
        n = MIN(link->n_left, replies->len);
        ingest_client_feed(link->client, replies->data, n);
        link->n_left -= n;
        link->is_broken |= n < replies->len;
        g_byte_array_set_size(replies, 0);
        while (ingest_client_next(link->client, NULL) != INGEST_CLIENT_NOTHING)
                ck_assert(ingest_client_state(link->client) != INGEST_CLIENT_FAILED);
}

/*
 * Plays the life of a feeder, step by step; the connection breaks after N bytes, and the feeder
 * notices this at step I_FOUND at the latest. Returns the knowledge of the daemon; the caller owns
 * it.
 */
static char *live(size_t n, unsigned i_found, size_t *ret_n_carried)
{
        Link link = {.tracker = tracker_new(), .client = ingest_client_new("test", true)};
        IngestStream *a = NULL, *b = NULL, *c = NULL;
        char *bodies;
        unsigned i;

        link.out = g_byte_array_new();
        link_connect(&link, n);
        for (i = 0; i < 8; i++) {
                GByteArray *batch = ingest_client_batch(link.client);

                if (i == i_found && link.is_broken)
                        link_connect(&link, SIZE_MAX);
                switch (i) {
                case 0:
                        a = open_stream(link.client, 1, NULL);
                        put_load(link.client, a, 10);
                        break;
                case 1:
                        b = open_stream(link.client, 2, NULL);
                        put_load(link.client, b, 20);
                        commit_all(link.client);
                        break;
                case 2:
                        ingest_put_stream_close(batch, a->number);
                        commit_all(link.client);
                        a = NULL;
                        break;
                case 3:
                        put_load(link.client, b, 30);
                        commit_all(link.client);
                        break;
                case 4:
                        c = open_stream(link.client, 3, NULL);
                        put_load(link.client, b, 40);
                        put_load(link.client, c, 41);
                        commit_all(link.client);
                        break;
                case 5:
                        ingest_put_gap(batch, b->number, &(StreamGap){GAP_EVENTS, 45, 46, 3});
                        put_load(link.client, c, 50);
                        break;
                case 6:
                        put_load(link.client, c, 60);
                        commit_all(link.client);
                        break;
                case 7:
                        ingest_put_progress(batch, b->number, 70);
                        ingest_put_stream_close(batch, b->number);
                        ingest_put_stream_close(batch, c->number);
                        commit_all(link.client);
                        break;
                }
                link_carry(&link);
        }
        if (link.is_broken)
                link_connect(&link, SIZE_MAX);
        link_carry(&link);
        ck_assert_uint_eq(ingest_client_n_in_flight(link.client), 0);
        ck_assert(ingest_client_is_ready(link.client));
        *ret_n_carried = SIZE_MAX - link.n_left;
        bodies = tracker_bodies(link.tracker);
        ck_assert_uint_eq(tracker_stats(link.tracker)->records[EVENT_KIND_METHOD_LOAD], 7);
        ck_assert_uint_eq(tracker_stats(link.tracker)->discarded_events, 3);
        ck_assert_msg(tracker_gap_seconds(link.tracker) <= 1.5e-9, "broken after %zu bytes", n);
        ingest_connection_free(link.connection);
        ingest_client_free(link.client);
        g_byte_array_unref(link.out);
        tracker_free(link.tracker);
        return bodies;
}

START_TEST(test_broken)
{
        size_t n_whole, n_carried, n;
        g_autofree char *whole = live(SIZE_MAX, 0, &n_whole);
        unsigned i_found;

        ck_assert_ptr_nonnull(strstr(whole, "\"start\":\"0xa000\""));
        for (n = 0; n < n_whole; n++) {
                /* The client notices the disconnect at once, or some steps later. */
                for (i_found = 0; i_found <= 8; i_found++) {
                        g_autofree char *broken = live(n, i_found, &n_carried);

                        ck_assert_str_eq(broken, whole);
                }
        }
}
END_TEST

/* A stream that no feeder fed before: the client reports the gap before its begin. */
START_TEST(test_gap_before)
{
        Link link = {.tracker = tracker_new(), .client = ingest_client_new("first", false)};

        link.out = g_byte_array_new();
        link_connect(&link, SIZE_MAX);
        put_load(link.client, open_stream(link.client, 1, NULL), 10);
        commit_all(link.client);
        link_carry(&link);
        ingest_client_free(link.client);

        link.client = ingest_client_new("second", true);
        link_connect(&link, SIZE_MAX);
        link_carry(&link);
        put_load(link.client, open_stream(link.client, 1, NULL), 20);
        commit_all(link.client);
        link_connect(&link, SIZE_MAX); /* before the gap is sent */
        link_carry(&link);
        ck_assert(tracker_gap_seconds(link.tracker) > 5e-9);
        ingest_client_free(link.client);
        ingest_connection_free(link.connection);
        g_byte_array_unref(link.out);
        tracker_free(link.tracker);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("ingest-client");
        TCase *tcase = tcase_create("ingest-client");

        tcase_set_timeout(tcase, 60);
        tcase_add_loop_test(tcase, test_talk, 0, G_N_ELEMENTS(TALKS));
        tcase_add_test(tcase, test_broken);
        tcase_add_test(tcase, test_credit);
        tcase_add_test(tcase, test_gap_before);
        tcase_add_test(tcase, test_numbers);
        tcase_add_test(tcase, test_settled);
        tcase_add_test(tcase, test_too_large);
        suite_add_tcase(suite, tcase);
        return suite;
}
