/* SPDX-License-Identifier: MIT */

/* Batches of the client library, against a fake daemon that follows the test's script */

#include "clrsym/clrsym.h"

#include "support/fake-daemon.h"
#include "support/good-answer.h"
#include "support/suite.h"

#include <errno.h>
#include <string.h>

#define QUERY_ADDRESS UINT64_C(0x1008)

static clrsym *open_fake(const FakeDaemon *fake, int reconnect_ms)
{
        const clrsym_options options = {.socket = fake->path, .reconnect_ms = reconnect_ms};
        clrsym *handle;

        ck_assert_int_eq(clrsym_open(&handle, &options, NULL), 0);
        return handle;
}

/* Accepts the connection of the handle, which stays unused. */
static void accept_handle(FakeDaemon *fake)
{
        fake_accept(fake);
        fake->fd = -1;
}

static size_t n_good(void)
{
        g_autoptr(GByteArray) frames = good_frames();

        return frames->len + sizeof(BulkHeader) + sizeof(BulkAnswer);
}

static void play_every_cut(FakeDaemon *fake)
{
        const BulkAnswer answer = good_answer();
        BulkQuery queries[BULK_MAX_QUERIES];
        BulkHeader header;
        size_t cut;

        accept_handle(fake);
        fake_accept_bulk(fake);
        for (cut = 0; cut < n_good(); cut++) {
                g_autoptr(GByteArray) frames = good_frames();

                if (fake_read_queries(fake, &header, queries) != 1 || header.wait_ms != 0 ||
                    queries[0].pid != 100 || queries[0].address != QUERY_ADDRESS ||
                    queries[0].pid_ns != 5 || queries[0].time != 6 ||
                    queries[0].flags != (BULK_QUERY_PID_NS | BULK_QUERY_TIME))
                        return;
                frame_append(frames, BULK_ANSWERS, header.tag, &answer, sizeof(answer));
                fake->cut = cut;
                fake_send(fake, frames->data, frames->len);
        }
        fake_expect_end(fake);
}

START_TEST(test_every_cut)
{
        g_autoptr(FakeDaemon) fake = fake_daemon_new(play_every_cut, NULL);
        const clrsym_query query = {.pid = 100,
                                    .has_pid_ns = true,
                                    .pid_ns = 5,
                                    .has_time = true,
                                    .time = 6,
                                    .address = QUERY_ADDRESS};
        clrsym *handle = open_fake(fake, -1);
        clrsym_answer answer;
        size_t i;

        ck_assert_int_eq(clrsym_resolve(handle, NULL, 0, 0, NULL), 0);
        for (i = 0; i < n_good(); i++) {
                ck_assert_int_eq(clrsym_resolve(handle, &query, 1, 0, &answer), 0);
                check_good(&answer);
        }
        clrsym_close(handle);
}
END_TEST

/* A good answer with one changed byte, and the error; NULL: no error. */
typedef struct Change {
        size_t offset, n;
        uint64_t value;
        const char *wrong;
} Change;

#define CHANGE(member, value, wrong)                                                               \
        {                                                                                          \
                offsetof(BulkAnswer, member), sizeof(((BulkAnswer *)NULL)->member), value, wrong   \
        }

static const Change CHANGES[] = {
        CHANGE(status, CLRSYM_INVALID + 1, "no meaning"),
        CHANGE(confidence, CLRSYM_GAP + 1, "no meaning"),
        CHANGE(source, CLRSYM_SOURCE_R2R_ENTRY + 1, "no meaning"),
        CHANGE(tier, CLRSYM_TIER_READY_TO_RUN + 1, "no meaning"),
        CHANGE(il_kind, 255, "no meaning"),
        CHANGE(process, 2, "about no process"),
        CHANGE(process, UINT32_MAX - 1, "about no process"),
        CHANGE(process, BULK_NO_PROCESS, "cannot have"),
        CHANGE(flags, 0, "without a body"),
        CHANGE(flags, BULK_ANSWER_BODY | BULK_ANSWER_NEAREST, "cannot have"),
        CHANGE(status, CLRSYM_UNLOADED, "cannot have"),
        CHANGE(status, CLRSYM_NO_METHOD, "cannot have"),
        CHANGE(status, CLRSYM_AMBIGUOUS, "cannot have"),
        CHANGE(name, 9, "was not sent"),
        CHANGE(name_space, 9, "was not sent"),
        CHANGE(signature, UINT32_MAX, "was not sent"),
        CHANGE(module_path, 1, "was not sent"),
        CHANGE(start, 0x1009, "another address"),
        CHANGE(start, 0xff8, "another address"),
        CHANGE(start, UINT64_MAX - 5, "end of memory"),
        CHANGE(size, 8, "another address"),
        CHANGE(size, 0, "another address"),
        CHANGE(il_offset, UINT32_MAX, "IL offset"),
        CHANGE(stub_for, 3, "for no method"),
        CHANGE(stub_for, 4, "stub that was not sent"),
        CHANGE(stub_for, UINT32_MAX, "stub that was not sent"),
        CHANGE(n_inlined, 3, "inlined method that was not sent"),
        CHANGE(n_inlined, UINT32_MAX, "inlined method that was not sent"),
        CHANGE(inlined, 0, "inlined method that was not sent"),
        CHANGE(inlined, 4, "inlined method that was not sent"),
        CHANGE(inlined, UINT32_MAX, "inlined method that was not sent"),
        CHANGE(il_version, 4, NULL),
};

static void play_change(FakeDaemon *fake)
{
        const Change *change = fake->data;
        g_autoptr(GByteArray) frames = good_frames();
        BulkAnswer answer = good_answer();
        BulkQuery queries[BULK_MAX_QUERIES];
        BulkHeader header;

        accept_handle(fake);
        fake_accept_bulk(fake);
        fake_read_queries(fake, &header, queries);
        memcpy((uint8_t *)&answer + change->offset, &change->value, change->n);
        frame_append(frames, BULK_ANSWERS, header.tag, &answer, sizeof(answer));
        fake_send(fake, frames->data, frames->len);
        if (change->wrong)
                fake_expect_end(fake);
}

START_TEST(test_bad_answer)
{
        g_autoptr(FakeDaemon) fake = fake_daemon_new(play_change, &CHANGES[_i]);
        const clrsym_query query = {.pid = 100, .address = QUERY_ADDRESS};
        clrsym *handle = open_fake(fake, 0);
        clrsym_answer answer;
        int r = clrsym_resolve(handle, &query, 1, 0, &answer);

        if (CHANGES[_i].wrong) {
                ck_assert_int_eq(r, -EBADMSG);
                ck_assert_ptr_nonnull(strstr(clrsym_message(handle), CHANGES[_i].wrong));
                ck_assert(answer.status == CLRSYM_INVALID && !answer.has_body);
        } else {
                ck_assert_int_eq(r, 0);
                check_good(&answer);
        }
        clrsym_close(handle);
}
END_TEST

/* A hostile frame in the place of an answer, and the error. */
typedef struct Hostile {
        uint16_t type;
        uint32_t size;       /* size in the header */
        const char *payload; /* N bytes */
        size_t n;
        int error;
        const char *said;
} Hostile;

#define PAYLOAD(text) text, sizeof(text) - 1

static const Hostile HOSTILES[] = {
        {BULK_ANSWERS, 0, "", 0, -EBADMSG, "one answer a question"},
        {BULK_ANSWERS, 111, PAYLOAD("x"), -EBADMSG, "one answer a question"},
        {BULK_ANSWERS, 2 * sizeof(BulkAnswer), PAYLOAD("x"), -EBADMSG, "one answer a question"},
        {BULK_ANSWERS, 4097 * sizeof(BulkAnswer), PAYLOAD("x"), -EBADMSG, "too long"},
        {BULK_ANSWERS, UINT32_MAX, PAYLOAD("x"), -EBADMSG, "too long"},
        {BULK_PROCESSES, 31, PAYLOAD("x"), -EBADMSG, "half a process"},
        {BULK_PROCESSES, 4097 * 32, PAYLOAD("x"), -EBADMSG, "too long"},
        {BULK_STUBS, 15, PAYLOAD("x"), -EBADMSG, "half a stub"},
        {BULK_STUBS, 4097 * 16, PAYLOAD("x"), -EBADMSG, "too long"},
        {BULK_INLINED, 7, PAYLOAD("x"), -EBADMSG, "half an inlined method"},
        {BULK_INLINED, 8, PAYLOAD("\7\0\0\0\0\0\0\0"), -EBADMSG, "a name that was not sent"},
        {BULK_INLINED, 4097 * 20 * 8, PAYLOAD("x"), -EBADMSG, "too long"},
        {BULK_NAMES, 7, PAYLOAD("\1\0\0\0\0\0\0"), -EBADMSG, "half a name"},
        {BULK_NAMES, 9, PAYLOAD("\1\0\0\0\2\0\0\0a"), -EBADMSG, "without an id"},
        {BULK_NAMES, 9,
         PAYLOAD("\1\0\0\0\xff\xff\xff\xff"
                 "a"),
         -EBADMSG, "without an id"},
        {BULK_NAMES, 9, PAYLOAD("\0\0\0\0\1\0\0\0a"), -EBADMSG, "without an id"},
        {BULK_NAMES, 9, PAYLOAD("\1\0\0\0\1\0\0\0\xff"), -EBADMSG, "not UTF-8 text"},
        {BULK_NAMES, 9, PAYLOAD("\1\0\0\0\1\0\0\0\0"), -EBADMSG, "not UTF-8 text"},
        {BULK_NAMES, UINT32_MAX, PAYLOAD("x"), -EBADMSG, "too long"},
        {BULK_FORGET, 1, PAYLOAD("x"), -EBADMSG, "too long"},
        {BULK_QUERIES, 0, "", 0, -EBADMSG, "type 1"},
        {0, 0, "", 0, -EBADMSG, "type 0"},
        {99, 0, "", 0, -EBADMSG, "type 99"},
        {99, 5, PAYLOAD("x"), -EBADMSG, "too long"},
        {BULK_ERROR, 5, PAYLOAD("no\n!\xff"), -EREMOTEIO, "refused: no\\u{a}!\\u{fffd}"},
        {BULK_ERROR, 1u << 20, PAYLOAD("x"), -EBADMSG, "too long"},
};

static void play_hostile(FakeDaemon *fake)
{
        const Hostile *hostile = fake->data;
        BulkHeader answer = {.size = hostile->size, .type = hostile->type};
        g_autofree uint8_t *rest = g_malloc0(1000);
        BulkQuery queries[BULK_MAX_QUERIES];
        BulkHeader header;

        accept_handle(fake);
        fake_accept_bulk(fake);
        fake_read_queries(fake, &header, queries);
        answer.tag = header.tag;
        fake_send(fake, &answer, sizeof(answer));
        fake_send(fake, hostile->payload, hostile->n);
        if (hostile->size < 1000)
                fake_send(fake, rest, hostile->size - hostile->n);
        /* The client has closed the connection. */
        fake_expect_end(fake);
}

START_TEST(test_hostile)
{
        g_autoptr(FakeDaemon) fake = fake_daemon_new(play_hostile, &HOSTILES[_i]);
        const clrsym_query query = {.pid = 100, .address = QUERY_ADDRESS};
        clrsym *handle = open_fake(fake, 0);
        clrsym_answer answer;

        ck_assert_int_eq(clrsym_resolve(handle, &query, 1, 0, &answer), HOSTILES[_i].error);
        ck_assert_ptr_nonnull(strstr(clrsym_message(handle), HOSTILES[_i].said));
        clrsym_close(handle);
}
END_TEST

/* Bad replies to the call Bulk; the client takes none of them. */
static const struct {
        const char *reply;
        int error;
        const char *said;
} UPGRADES[] = {
        {"{\"error\":\"org.varlink.service.MethodNotFound\"}", -EREMOTEIO, "MethodNotFound"},
        {"{\"parameters\":{\"version\":1,\"max_queries\":4096}}", -EBADMSG, "another version"},
        {"{\"parameters\":{\"version\":4,\"max_queries\":4096}}", -EBADMSG, "another version"},
        {"{\"parameters\":{\"version\":4,\"max_queries\":4096,\"answer_size\":111}}", -EBADMSG,
         "another version"},
        {"{\"parameters\":{\"version\":4,\"max_queries\":4096,\"answer_size\":1025}}", -EBADMSG,
         "another version"},
        {"{\"parameters\":{\"version\":4,\"answer_size\":112,\"max_queries\":0}}", -EBADMSG,
         "another version"},
        {"{\"parameters\":{\"version\":4,\"answer_size\":112,\"max_queries\":-4}}", -EBADMSG,
         "another version"},
        {"{\"parameters\":{\"version\":4,\"answer_size\":112}}", -EBADMSG, "another version"},
        {"{}", -EBADMSG, "another version"},
        {"no", -EBADMSG, "not a reply"},
};

static void play_upgrade(FakeDaemon *fake)
{
        accept_handle(fake);
        fake_accept(fake);
        fake_expect_call(fake, "Bulk");
        fake_reply(fake, fake->data);
        fake_expect_end(fake);
}

START_TEST(test_upgrade)
{
        g_autoptr(FakeDaemon) fake = fake_daemon_new(play_upgrade, UPGRADES[_i].reply);
        const clrsym_query query = {.pid = 100, .address = QUERY_ADDRESS};
        clrsym *handle = open_fake(fake, 0);
        clrsym_answer answer;

        ck_assert_int_eq(clrsym_resolve(handle, &query, 1, 0, &answer), UPGRADES[_i].error);
        ck_assert_ptr_nonnull(strstr(clrsym_message(handle), UPGRADES[_i].said));
        clrsym_close(handle);
}
END_TEST

/* A daemon of a version without stubs: the client asks it again, for the version that it has. */
static void play_version_1(FakeDaemon *fake)
{
        BulkAnswer answer = good_answer();
        BulkQuery queries[BULK_MAX_QUERIES];
        g_autoptr(GByteArray) out = g_byte_array_new();
        BulkHeader header;

        accept_handle(fake);
        fake_accept(fake);
        fake_expect_call(fake, "{\"version\":4}");
        fake_reply(fake, "{\"error\":\"org.varlink.service.InvalidParameter\","
                         "\"parameters\":{\"parameter\":\"version\"}}");
        fake_expect_call(fake, "{\"version\":3}");
        fake_reply(fake, "{\"error\":\"org.varlink.service.InvalidParameter\","
                         "\"parameters\":{\"parameter\":\"version\"}}");
        fake_expect_call(fake, "{\"version\":2}");
        fake_reply(fake, "{\"error\":\"org.varlink.service.InvalidParameter\","
                         "\"parameters\":{\"parameter\":\"version\"}}");
        fake_expect_call(fake, "{\"version\":1}");
        fake_reply(fake, fake->data);
        fake_read_queries(fake, &header, queries);
        answer.name_space = answer.name = answer.module_path = answer.stub_for = 0;
        answer.n_inlined = answer.inlined = 0;
        frame_append(out, BULK_PROCESSES, 0, PROCESSES, sizeof(PROCESSES));
        frame_append(out, BULK_ANSWERS, header.tag, &answer, BULK_ANSWER_MIN);
        fake_send(fake, out->data, out->len);
}

START_TEST(test_version_1)
{
        g_autoptr(FakeDaemon) fake = fake_daemon_new(
                play_version_1, "{\"parameters\":{\"version\":1,\"max_queries\":4096}}");
        const clrsym_query query = {.pid = 100, .address = QUERY_ADDRESS};
        clrsym *handle = open_fake(fake, -1);
        clrsym_answer answer;

        ck_assert_int_eq(clrsym_resolve(handle, &query, 1, 0, &answer), 0);
        ck_assert_int_eq(answer.status, CLRSYM_OK);
        ck_assert_ptr_null(answer.body.stub_name);
        clrsym_close(handle);
}
END_TEST

/* Rows that are shorter, or longer, than the rows of this library's version. */
static void play_row_size(FakeDaemon *fake)
{
        const size_t *size = fake->data;
        g_autofree char *reply = g_strdup_printf("{\"parameters\":{\"version\":4,"
                                                 "\"max_queries\":4096,\"answer_size\":%zu}}",
                                                 *size);
        g_autoptr(GByteArray) out = g_byte_array_new(), rows = g_byte_array_new();
        BulkAnswer answer = good_answer();
        BulkQuery queries[BULK_MAX_QUERIES];
        BulkHeader header;
        unsigned i;

        accept_handle(fake);
        fake_accept(fake);
        fake_expect_call(fake, "{\"version\":4}");
        fake_reply(fake, reply);
        fake_read_queries(fake, &header, queries);
        answer.name_space = answer.name = answer.module_path = answer.stub_for = 0;
        answer.n_inlined = answer.inlined = 0;
        for (i = 0; i < 2; i++) {
                answer.rejit_id = i;
                g_byte_array_append(rows, (const guint8 *)&answer, MIN(*size, sizeof(answer)));
                while (rows->len < (i + 1) * *size)
                        g_byte_array_append(rows, (const guint8 *)"\xff", 1);
        }
        frame_append(out, BULK_PROCESSES, 0, PROCESSES, sizeof(PROCESSES));
        frame_append(out, BULK_ANSWERS, header.tag, rows->data, rows->len);
        fake_send(fake, out->data, out->len);
}

START_TEST(test_row_size)
{
        static const size_t SIZES[] = {BULK_ANSWER_MIN, BULK_ANSWER_MIN + 1, BULK_ANSWER_MAX};
        g_autoptr(FakeDaemon) fake = fake_daemon_new(play_row_size, (void *)&SIZES[_i]);
        const clrsym_query queries[] = {{.pid = 100, .address = QUERY_ADDRESS},
                                        {.pid = 100, .address = QUERY_ADDRESS}};
        clrsym *handle = open_fake(fake, -1);
        clrsym_answer answers[2];
        unsigned i;

        ck_assert_int_eq(clrsym_resolve(handle, queries, 2, 0, answers), 0);
        for (i = 0; i < 2; i++) {
                ck_assert_int_eq(answers[i].status, CLRSYM_OK);
                ck_assert_uint_eq(answers[i].body.rejit_id, i);
        }
        clrsym_close(handle);
}
END_TEST

/* A daemon without any version that this library knows. */
static void play_no_version(FakeDaemon *fake)
{
        int i;

        accept_handle(fake);
        fake_accept(fake);
        for (i = 0; i < BULK_VERSION; i++) {
                fake_expect_call(fake, "Bulk");
                fake_reply(fake, "{\"error\":\"org.varlink.service.InvalidParameter\","
                                 "\"parameters\":{\"parameter\":\"version\"}}");
        }
        fake_expect_end(fake);
}

START_TEST(test_no_version)
{
        g_autoptr(FakeDaemon) fake = fake_daemon_new(play_no_version, NULL);
        const clrsym_query query = {.pid = 100, .address = QUERY_ADDRESS};
        clrsym *handle = open_fake(fake, -1);
        clrsym_answer answer;

        ck_assert_int_eq(clrsym_resolve(handle, &query, 1, 0, &answer), -EREMOTEIO);
        ck_assert_ptr_nonnull(strstr(clrsym_message(handle), "another version"));
        clrsym_close(handle);
}
END_TEST

/* Answers each query with a body at the query's address; the body's name consists of the frame's
 * number and the address. */
static void answer_named(FakeDaemon *fake, unsigned frame, const BulkHeader *header,
                         const BulkQuery *queries, size_t n)
{
        g_autofree BulkAnswer *answers = g_new(BulkAnswer, n);
        g_autoptr(GByteArray) out = g_byte_array_new();
        size_t i;

        frame_append(out, BULK_PROCESSES, 0, PROCESSES, sizeof(PROCESSES));
        for (i = 0; i < n; i++) {
                char name[32];

                g_snprintf(name, sizeof(name), "%u-%" G_GUINT64_FORMAT, frame,
                           (guint64)queries[i].address);
                if (i < 100)
                        frame_append_name(out, 1 + (uint32_t)i, name, strlen(name));
                answers[i] = good_answer();
                answers[i].start = queries[i].address;
                answers[i].name = 1 + (uint32_t)i % 100;
                answers[i].name_space = answers[i].module_path = answers[i].stub_for = 0;
                answers[i].n_inlined = answers[i].inlined = 0;
        }
        frame_append(out, BULK_ANSWERS, header->tag, answers, n * sizeof(*answers));
        fake_send(fake, out->data, out->len);
}

/* The same ids have other names in each frame; now and then the daemon drops all names first. */
static void play_many(FakeDaemon *fake)
{
        const BulkHeader forget = {.type = BULK_FORGET};
        BulkQuery queries[BULK_MAX_QUERIES];
        BulkHeader header;
        unsigned frame;

        accept_handle(fake);
        fake_accept_bulk(fake);
        for (frame = 0; frame < 10; frame++) {
                size_t n = fake_read_queries(fake, &header, queries);

                if (frame % 3 == 2)
                        fake_send(fake, &forget, sizeof(forget));
                if (frame == 0)
                        g_usleep(50000); /* the next frame is being sent */
                answer_named(fake, frame, &header, queries, n);
        }
        fake_expect_end(fake);
}

#define N_MANY (9 * 4096 + 5)

static void check_many(const clrsym_answer *answers, size_t begin, size_t end, unsigned first_frame)
{
        size_t i;

        for (i = begin; i < end; i++) {
                char name[32];
                size_t in_frame = (i - begin) % 4096;

                g_snprintf(name, sizeof(name), "%zu-%zu", first_frame + (i - begin) / 4096,
                           0x1000 + i - in_frame + in_frame % 100);
                ck_assert_uint_eq(answers[i].body.start, 0x1000 + i);
                ck_assert_str_eq(answers[i].body.name, name);
        }
}

static clrsym_query *many_queries(void)
{
        clrsym_query *queries = g_new0(clrsym_query, N_MANY);
        size_t i;

        for (i = 0; i < N_MANY; i++)
                queries[i] = (clrsym_query){.pid = 100, .address = 0x1000 + i};
        return queries;
}

START_TEST(test_many)
{
        g_autoptr(FakeDaemon) fake = fake_daemon_new(play_many, NULL);
        g_autofree clrsym_query *queries = many_queries();
        g_autofree clrsym_answer *answers = g_new(clrsym_answer, N_MANY);
        clrsym *handle = open_fake(fake, -1);

        ck_assert_int_eq(clrsym_resolve(handle, queries, N_MANY, 0, answers), 0);
        check_many(answers, 0, N_MANY, 0);
        clrsym_close(handle);
}
END_TEST

/* Disconnects within the answers of the third frame; the next daemon has no frame of the first
 * two. */
static void play_restart(FakeDaemon *fake)
{
        BulkQuery queries[BULK_MAX_QUERIES];
        BulkHeader header;
        unsigned frame;
        size_t n;

        accept_handle(fake);
        fake_accept_bulk(fake);
        for (frame = 0; frame < 2; frame++) {
                n = fake_read_queries(fake, &header, queries);
                answer_named(fake, frame, &header, queries, n);
        }
        fake_read_queries(fake, &header, queries);
        fake_send(fake, "\x20", 1);
        fake_stop_listening(fake);
        fake_hang_up(fake);
        g_usleep(200000);
        fake_listen(fake);
        fake_accept_bulk(fake);
        for (; frame < 10; frame++) {
                n = fake_read_queries(fake, &header, queries);
                answer_named(fake, frame, &header, queries, n);
        }
        fake_expect_end(fake);
}

START_TEST(test_restart)
{
        g_autoptr(FakeDaemon) fake = fake_daemon_new(play_restart, NULL);
        g_autofree clrsym_query *queries = many_queries();
        g_autofree clrsym_answer *answers = g_new(clrsym_answer, N_MANY);
        clrsym *handle = open_fake(fake, 0);

        ck_assert_int_eq(clrsym_resolve(handle, queries, N_MANY, 0, answers), 0);
        check_many(answers, 0, N_MANY, 0);
        clrsym_close(handle);
}
END_TEST

static void play_hang_up(FakeDaemon *fake)
{
        BulkQuery queries[BULK_MAX_QUERIES];
        BulkHeader header;
        int i;

        accept_handle(fake);
        for (i = 0; i < 3; i++) {
                fake_accept_bulk(fake);
                fake_read_queries(fake, &header, queries);
                fake_hang_up(fake);
        }
}

/* The client does not repeat for ever a query that crashes the daemon. */
START_TEST(test_hang_up)
{
        g_autoptr(FakeDaemon) fake = fake_daemon_new(play_hang_up, NULL);
        const clrsym_query query = {.pid = 100, .address = QUERY_ADDRESS};
        clrsym *handle = open_fake(fake, 0);
        clrsym_answer answer;

        ck_assert_int_eq(clrsym_resolve(handle, &query, 1, 0, &answer), -ECONNRESET);
        ck_assert_ptr_nonnull(strstr(clrsym_message(handle), "disconnected"));
        ck_assert_int_eq(answer.status, CLRSYM_INVALID);
        clrsym_close(handle);
}
END_TEST

static void play_nearest(FakeDaemon *fake)
{
        g_autoptr(GByteArray) frames = good_frames();
        BulkQuery queries[BULK_MAX_QUERIES];
        BulkAnswer answers[5];
        BulkHeader header;
        size_t i;

        accept_handle(fake);
        fake_accept_bulk(fake);
        if (fake_read_queries(fake, &header, queries) != 5 || header.wait_ms < 1 ||
            header.wait_ms > 1000)
                return;
        for (i = 0; i < 5; i++) {
                answers[i] = good_answer();
                answers[i].flags = BULK_ANSWER_BODY | BULK_ANSWER_NEAREST;
                answers[i].il_kind = CLRSYM_IL_UNKNOWN;
        }
        answers[0].status = CLRSYM_UNLOADED;
        answers[0].distance = -5;
        answers[1].status = CLRSYM_NOT_YET;
        answers[1].distance = INT64_MAX;
        answers[1].start = 0x2000;
        answers[2] = (BulkAnswer){.status = CLRSYM_NO_PROCESS, .process = BULK_NO_PROCESS};
        answers[3] = (BulkAnswer){.status = CLRSYM_AMBIGUOUS, .n_candidates = 65535, .process = 0};
        answers[4] = (BulkAnswer){.status = CLRSYM_PENDING, .process = 1};
        frame_append(frames, BULK_ANSWERS, header.tag, answers, sizeof(answers));
        fake_send(fake, frames->data, frames->len);
}

START_TEST(test_nearest)
{
        g_autoptr(FakeDaemon) fake = fake_daemon_new(play_nearest, NULL);
        clrsym_query queries[5] = {{.pid = 100, .address = QUERY_ADDRESS}};
        clrsym *handle = open_fake(fake, -1);
        clrsym_answer answers[5];

        ck_assert_int_eq(clrsym_resolve(handle, queries, 5, 1000, answers), 0);
        ck_assert(answers[0].status == CLRSYM_UNLOADED && answers[0].has_body);
        ck_assert(answers[0].distance == -5 && answers[0].offset == 8);
        ck_assert_str_eq(answers[0].body.name, "Mß");
        ck_assert(!answers[0].body.has_il_version && answers[0].body.il_version == 0);
        ck_assert(answers[1].status == CLRSYM_NOT_YET && answers[1].distance == INT64_MAX);
        ck_assert(answers[2].status == CLRSYM_NO_PROCESS && !answers[2].has_process);
        ck_assert(!answers[2].has_body);
        ck_assert(answers[3].status == CLRSYM_AMBIGUOUS && answers[3].n_candidates == 65535);
        ck_assert(answers[3].pid == 1 && !answers[3].has_body);
        ck_assert(answers[4].status == CLRSYM_PENDING && !answers[4].has_body);
        clrsym_close(handle);
}
END_TEST

/* Reads nothing until its own output is read; a client that only wrote or only read would
 * deadlock. */
static void play_full(FakeDaemon *fake)
{
        g_autofree char *text = g_strnfill(8u << 20, 'x');
        g_autoptr(GByteArray) names = g_byte_array_new();
        BulkQuery queries[BULK_MAX_QUERIES];
        BulkHeader header;
        unsigned i;
        size_t n;

        frame_append_name(names, 500, text, 8u << 20);
        accept_handle(fake);
        fake_accept_bulk(fake);
        for (i = 0; i < 10; i++) {
                g_usleep(20000);
                fake_send(fake, names->data, names->len);
                n = fake_read_queries(fake, &header, queries);
                answer_named(fake, i, &header, queries, n);
        }
}

START_TEST(test_full)
{
        g_autoptr(FakeDaemon) fake = fake_daemon_new(play_full, NULL);
        g_autofree clrsym_query *queries = many_queries();
        g_autofree clrsym_answer *answers = g_new(clrsym_answer, N_MANY);
        clrsym *handle = open_fake(fake, -1);

        ck_assert_int_eq(clrsym_resolve(handle, queries, N_MANY, 0, answers), 0);
        check_many(answers, 0, N_MANY, 0);
        clrsym_close(handle);
}
END_TEST

/* Sends names without end: the client gives up. */
static void play_flood(FakeDaemon *fake)
{
        const BulkHeader forget = {.type = BULK_FORGET};
        g_autofree char *text = g_strnfill(16u << 20, 'x');
        g_autoptr(GByteArray) names = g_byte_array_new();
        BulkQuery queries[BULK_MAX_QUERIES];
        BulkHeader header;
        int i;

        frame_append_name(names, 500, text, 16u << 20);
        accept_handle(fake);
        fake_accept_bulk(fake);
        fake_read_queries(fake, &header, queries);
        for (i = 0; i < 20; i++) {
                fake_send(fake, &forget, sizeof(forget));
                fake_send(fake, names->data, names->len);
        }
        fake_expect_end(fake);
}

START_TEST(test_flood)
{
        g_autoptr(FakeDaemon) fake = fake_daemon_new(play_flood, NULL);
        const clrsym_query query = {.pid = 100, .address = QUERY_ADDRESS};
        clrsym *handle = open_fake(fake, -1);
        clrsym_answer answer;

        ck_assert_int_eq(clrsym_resolve(handle, &query, 1, 0, &answer), -EBADMSG);
        ck_assert_ptr_nonnull(strstr(clrsym_message(handle), "more names than agreed"));
        clrsym_close(handle);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("client-bulk");
        TCase *tcase = tcase_create("client-bulk");

        tcase_set_timeout(tcase, 60);
        tcase_add_test(tcase, test_every_cut);
        tcase_add_loop_test(tcase, test_bad_answer, 0, G_N_ELEMENTS(CHANGES));
        tcase_add_loop_test(tcase, test_hostile, 0, G_N_ELEMENTS(HOSTILES));
        tcase_add_loop_test(tcase, test_upgrade, 0, G_N_ELEMENTS(UPGRADES));
        tcase_add_test(tcase, test_version_1);
        tcase_add_loop_test(tcase, test_row_size, 0, 3);
        tcase_add_test(tcase, test_no_version);
        tcase_add_test(tcase, test_many);
        tcase_add_test(tcase, test_restart);
        tcase_add_test(tcase, test_hang_up);
        tcase_add_test(tcase, test_nearest);
        tcase_add_test(tcase, test_full);
        tcase_add_test(tcase, test_flood);
        suite_add_tcase(suite, tcase);
        return suite;
}
