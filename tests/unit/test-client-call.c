/* SPDX-License-Identifier: MIT */

/* Calls and lists of the client library, against a fake daemon that follows the test's script */

#include "clrsym/clrsym.h"

#include "support/fake-daemon.h"
#include "support/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static clrsym *open_fake(const FakeDaemon *fake, int reconnect_ms)
{
        const clrsym_options options = {.socket = fake->path, .reconnect_ms = reconnect_ms};
        clrsym *handle;

        ck_assert_int_eq(clrsym_open(&handle, &options, NULL), 0);
        return handle;
}

/* Appends each reply and a newline to DATA. */
static int append_reply(const char *parameters, size_t n, void *data)
{
        ck_assert_uint_eq(strlen(parameters), n);
        g_string_append_printf(data, "%s\n", parameters);
        return 0;
}

static int call(clrsym *handle, const char *method, unsigned flags, GString *replies)
{
        g_string_truncate(replies, 0);
        return clrsym_call(handle, method, NULL, flags, 0, append_reply, replies);
}

static const char LONG_REPLY[] =
        " {\"parameters\" :{\"a\":1.50,\"b\":[true,{\"c\":\"}\\\\\\\"]\"}]} ,"
        "\"continues\":false,\"new\":[null]}";
static const char LONG_PARAMETERS[] = "{\"a\":1.50,\"b\":[true,{\"c\":\"}\\\\\\\"]\"}]}\n";

static void play_every_cut(FakeDaemon *fake)
{
        fake_accept(fake);
        for (fake->cut = 0; fake->cut < sizeof(LONG_REPLY); fake->cut++) {
                fake_expect_call(fake,
                                 "{\"method\":\"org.clrsym.Symbolizer.Some\",\"parameters\":{}}");
                fake_reply(fake, LONG_REPLY);
        }
        fake_expect_end(fake);
}

START_TEST(test_every_cut)
{
        g_autoptr(FakeDaemon) fake = fake_daemon_new(play_every_cut, NULL);
        g_autoptr(GString) replies = g_string_new(NULL);
        clrsym *handle = open_fake(fake, 0);
        size_t i;

        for (i = 0; i < sizeof(LONG_REPLY); i++) {
                ck_assert_int_eq(call(handle, "Some", 0, replies), 0);
                ck_assert_str_eq(replies->str, LONG_PARAMETERS);
        }
        clrsym_close(handle);
}
END_TEST

#define DEEP "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["

static const struct {
        const char *reply;
        int error;
        const char *said; /* part of the error message, or of the parameters */
} REPLIES[] = {
        {"{}", 0, "{}\n"},
        {"{ \"parameters\" : { } }\n", 0, "{ }\n"},
        {"{\"error\":\"a.B\",\"parameters\":{\"x\":1}}", -EREMOTEIO, "refused: a.B {\"x\":1}"},
        {"{\"error\":\"a.B\"}", -EREMOTEIO, "refused: a.B {}"},
        {"{\"error\":\"a.B\",\"continues\":true}", -EREMOTEIO, "refused: a.B {}"},
        {"{\"error\":\"org.varlink.service.InvalidParameter\",\"parameters\":{\"parameter\":\"x\"}"
         "}",
         -EINVAL, "{\"parameter\":\"x\"}"},
        {"{\"error\":\"\\u001b[31m\"}", -EREMOTEIO, "refused: \\u{1b}[31m {}"},
        {"220 mail.example ESMTP\r\n", -EBADMSG, "is not clrsymd"},
        {"", -EBADMSG, "is not clrsymd"},
        {"[]", -EBADMSG, "is not clrsymd"},
        {"{\"parameters\":[]}", -EBADMSG, ""},
        {"{\"parameters\":null}", -EBADMSG, ""},
        {"{\"parameters\":{}", -EBADMSG, ""},
        {"{\"parameters\":{", -EBADMSG, ""},
        {"{\"parameters\":{}}x", -EBADMSG, ""},
        {"{\"parameters\":{},\"parameters\":{}}", -EBADMSG, ""},
        {"{\"parameters\":{}\"a\":1}", -EBADMSG, ""},
        {"{\"parameters\" {}}", -EBADMSG, ""},
        {"{\"parameters\":{\"a\":\"\xff\"}}", -EBADMSG, ""},
        {"{\"parameters\":{\"a\":\"\\u0000\"}}", -EBADMSG, ""},
        {"{\"parameters\":{\"a\":[}]\"{", -EBADMSG, ""},
        {"{\"error\":5}", -EBADMSG, ""},
        {"{\"error\":\"a\",\"error\":\"b\"}", -EBADMSG, ""},
        {"{\"parameters\":{},\"continues\":true}", -EBADMSG, ""},
        {"{\"a\"}", -EBADMSG, ""},
        {"{\"a\":1,}", -EBADMSG, ""},
        {"{\"a\":}", -EBADMSG, ""},
        {"{\"a\":1e}", -EBADMSG, ""},
        {"{\"a", -EBADMSG, ""},
        {"{\"a\\", -EBADMSG, ""},
        {"{,}", -EBADMSG, ""},
        {"{\"a\":" DEEP DEEP, -EBADMSG, ""},
};

static void play_reply(FakeDaemon *fake)
{
        fake_accept(fake);
        fake_expect_call(fake, "\"method\":\"a.b.Some\"");
        fake_reply(fake, fake->data);
}

START_TEST(test_reply)
{
        g_autoptr(FakeDaemon) fake = fake_daemon_new(play_reply, REPLIES[_i].reply);
        g_autoptr(GString) replies = g_string_new(NULL);
        clrsym *handle = open_fake(fake, -1);

        ck_assert_int_eq(call(handle, "a.b.Some", 0, replies), REPLIES[_i].error);
        if (REPLIES[_i].error) {
                ck_assert_str_eq(replies->str, "");
                ck_assert_ptr_nonnull(strstr(clrsym_message(handle), REPLIES[_i].said));
        } else {
                ck_assert_str_eq(replies->str, REPLIES[_i].said);
        }
        clrsym_close(handle);
}
END_TEST

static void play_more(FakeDaemon *fake)
{
        fake_accept(fake);
        fake_expect_call(fake, "\"parameters\":{},\"more\":true}");
        fake_reply(fake, "{\"parameters\":{\"n\":1},\"continues\":true}");
        fake_reply(fake, "{\"parameters\":{\"n\":2},\"continues\":true}");
        fake_reply(fake, "{\"parameters\":{\"n\":3}}");
        fake_expect_call(fake, "Some");
        fake_reply(fake, "{\"parameters\":{\"n\":4}}");
}

START_TEST(test_more)
{
        g_autoptr(FakeDaemon) fake = fake_daemon_new(play_more, NULL);
        g_autoptr(GString) replies = g_string_new(NULL);
        clrsym *handle = open_fake(fake, 0);

        ck_assert_int_eq(call(handle, "Some", CLRSYM_MORE, replies), 0);
        ck_assert_str_eq(replies->str, "{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n");
        ck_assert_int_eq(call(handle, "Some", 0, replies), 0);
        ck_assert_str_eq(replies->str, "{\"n\":4}\n");
        clrsym_close(handle);
}
END_TEST

static int stop(const char *parameters, size_t n, void *data)
{
        (*(int *)data)++;
        return 7;
}

static void play_stopped(FakeDaemon *fake)
{
        fake_accept(fake);
        fake_expect_call(fake, "Some");
        fake_reply(fake, "{\"continues\":true}");
        fake_reply(fake, "{\"continues\":true}");
        fake_expect_end(fake);
        fake_accept(fake);
        fake_expect_call(fake, "Other");
        fake_reply(fake, "{}");
        /* The last reply: the connection is still usable. */
        fake_expect_call(fake, "Third");
        fake_reply(fake, "{}");
}

START_TEST(test_stopped)
{
        g_autoptr(FakeDaemon) fake = fake_daemon_new(play_stopped, NULL);
        clrsym *handle = open_fake(fake, -1);
        int n = 0;

        ck_assert_int_eq(clrsym_call(handle, "Some", "{}", CLRSYM_MORE, 0, stop, &n), 7);
        ck_assert_int_eq(n, 1);
        ck_assert_int_eq(clrsym_call(handle, "Other", "{}", CLRSYM_MORE, 0, stop, &n), 7);
        ck_assert_int_eq(clrsym_call(handle, "Third", "{}", 0, 0, NULL, NULL), 0);
        clrsym_close(handle);
}
END_TEST

static void play_restart(FakeDaemon *fake)
{
        fake_accept(fake);
        fake_expect_call(fake, "First");
        fake_reply(fake, "{}");
        fake_stop_listening(fake);
        fake_hang_up(fake);
        g_usleep(200000);
        fake_listen(fake);
        fake_accept(fake);
        fake_expect_call(fake, "Second");
        /* The daemon disconnects again, within a reply. */
        fake_send(fake, "{\"para", 6);
        fake_accept(fake);
        fake_expect_call(fake, "Second");
        fake_reply(fake, "{\"parameters\":{\"again\":true}}");
}

START_TEST(test_restart)
{
        g_autoptr(FakeDaemon) fake = fake_daemon_new(play_restart, NULL);
        g_autoptr(GString) replies = g_string_new(NULL);
        clrsym *handle = open_fake(fake, 0);

        ck_assert_int_eq(call(handle, "First", 0, replies), 0);
        ck_assert_int_eq(call(handle, "Second", 0, replies), 0);
        ck_assert_str_eq(replies->str, "{\"again\":true}\n");
        clrsym_close(handle);
}
END_TEST

static void play_hang_up(FakeDaemon *fake)
{
        const int *n = fake->data;
        int i;

        for (i = 0; i < *n; i++) {
                fake_accept(fake);
                fake_expect_call(fake, "Some");
                fake_hang_up(fake);
        }
        fake_stop_listening(fake);
}

/* The client does not repeat for ever a call that crashes the daemon; without reconnect_ms it does
 * not retry at all. */
START_TEST(test_hang_up)
{
        const int n = _i ? 1 : 3;
        g_autoptr(FakeDaemon) fake = fake_daemon_new(play_hang_up, &n);
        g_autoptr(GString) replies = g_string_new(NULL);
        clrsym *handle = open_fake(fake, _i ? -1 : 0);

        ck_assert_int_eq(call(handle, "Some", 0, replies), -ECONNRESET);
        ck_assert_ptr_nonnull(strstr(clrsym_message(handle), "disconnected: journalctl"));
        clrsym_close(handle);
}
END_TEST

static void play_hang_up_later(FakeDaemon *fake)
{
        fake_accept(fake);
        fake_expect_call(fake, "Some");
        fake_reply(fake, "{\"continues\":true}");
        fake_stop_listening(fake);
        fake_hang_up(fake);
}

/* A call whose reply has reached the caller is not repeated. Then the daemon is gone. */
START_TEST(test_hang_up_later)
{
        g_autoptr(FakeDaemon) fake = fake_daemon_new(play_hang_up_later, NULL);
        g_autoptr(GString) replies = g_string_new(NULL);
        clrsym *handle = open_fake(fake, 100);
        gint64 begin;

        ck_assert_int_eq(call(handle, "Some", CLRSYM_MORE, replies), -ECONNRESET);
        ck_assert_str_eq(replies->str, "{}\n");
        begin = g_get_monotonic_time();
        ck_assert_int_eq(call(handle, "Some", CLRSYM_MORE, replies), -ENOENT);
        ck_assert_int_ge(g_get_monotonic_time() - begin, 100000);
        ck_assert_ptr_nonnull(strstr(clrsym_message(handle), "no daemon at "));
        ck_assert_ptr_nonnull(strstr(clrsym_message(handle), fake->path));
        clrsym_close(handle);
}
END_TEST

static void play_nothing(FakeDaemon *fake)
{
}

START_TEST(test_open)
{
        g_autoptr(FakeDaemon) fake = fake_daemon_new(play_nothing, NULL);
        g_autofree char *absent = g_strconcat(fake->path, "-not", NULL);
        g_autofree char *want = g_strdup_printf(
                "no daemon at %s: systemctl start clrsymd.socket, or use --trace PATH", absent);
        g_autofree char *below = g_strconcat(fake->path, "/query", NULL);
        g_autofree char *too_long = g_strnfill(200, 'x');
        const struct {
                clrsym_options options;
                int error;
                const char *said;
        } ROWS[] = {
                {{.socket = absent}, -ENOENT, want},
                {{.socket = below}, -ENOTDIR, "no daemon at"},
                {{.socket = ""}, -ENOENT, "no daemon at"},
                {{.socket = too_long}, -ENAMETOOLONG, "longer than"},
                {{.socket = absent, .trace = "."}, -EINVAL, "not both"},
                {{.socket = absent, .save = "x"}, -EINVAL, "trace"},
        };
        clrsym *handle;
        char *message;
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(ROWS); i++) {
                ck_assert_int_eq(clrsym_open(&handle, &ROWS[i].options, &message), ROWS[i].error);
                ck_assert_ptr_null(handle);
                ck_assert_ptr_nonnull(strstr(message, ROWS[i].said));
                free(message);
                ck_assert_int_eq(clrsym_open(&handle, &ROWS[i].options, NULL), ROWS[i].error);
        }
        g_setenv("CLRSYM_SOCKET", absent, TRUE);
        ck_assert_int_eq(clrsym_open(&handle, NULL, NULL), -ENOENT);
        g_setenv("CLRSYM_SOCKET", fake->path, TRUE);
        ck_assert_int_eq(clrsym_open(&handle, NULL, &message), 0);
        ck_assert_ptr_null(message);
        ck_assert_str_eq(clrsym_message(handle), "nothing failed");
        clrsym_close(handle);
        clrsym_close(NULL);
}
END_TEST

static int call_inside(const char *parameters, size_t n, void *data)
{
        clrsym_query query = {.pid = 1};
        clrsym_answer answer;
        clrsym_watch *watch;
        uint64_t time;

        ck_assert_int_eq(clrsym_call(data, "Some", NULL, 0, 0, call_inside, data), -EBUSY);
        ck_assert_int_eq(clrsym_resolve(data, &query, 1, 0, &answer), -EBUSY);
        ck_assert_int_eq(clrsym_processes(data, NULL, NULL), -EBUSY);
        ck_assert_int_eq(clrsym_methods(data, NULL, NULL, NULL), -EBUSY);
        ck_assert_int_eq(clrsym_history(data, NULL, 1, NULL, NULL), -EBUSY);
        ck_assert_int_eq(clrsym_versions(data, NULL, "A", NULL, NULL), -EBUSY);
        ck_assert_int_eq(clrsym_time(data, "now", &time), -EBUSY);
        ck_assert_int_eq(clrsym_watch_open(data, NULL, &watch), -EBUSY);
        return 0;
}

START_TEST(test_busy)
{
        g_autoptr(FakeDaemon) fake = fake_daemon_new(play_reply, "{}");
        clrsym *handle = open_fake(fake, -1);

        ck_assert_int_eq(clrsym_call(handle, "a.b.Some", NULL, 0, 0, call_inside, handle), 0);
        ck_assert_int_eq(clrsym_call(handle, "a\"b", NULL, 0, 0, NULL, NULL), -EINVAL);
        ck_assert_int_eq(clrsym_call(handle, "", NULL, 0, 0, NULL, NULL), -EINVAL);
        clrsym_close(handle);
}
END_TEST

#define MAX_FD 1024

static void get_fds(int *ret_flags)
{
        int fd;

        for (fd = 0; fd < MAX_FD; fd++)
                ret_flags[fd] = fcntl(fd, F_GETFD);
}

/* All descriptors are close-on-exec, and all are closed at the end. */
START_TEST(test_descriptors)
{
        g_autoptr(FakeDaemon) fake = fake_daemon_new(play_nothing, NULL);
        int before[MAX_FD], during[MAX_FD], after[MAX_FD], fd;
        unsigned n_new = 0;
        clrsym *handle;

        get_fds(before);
        handle = open_fake(fake, -1);
        get_fds(during);
        clrsym_close(handle);
        get_fds(after);
        for (fd = 0; fd < MAX_FD; fd++) {
                ck_assert_int_eq(before[fd], after[fd]);
                if (before[fd] != during[fd])
                        ck_assert_int_eq(during[fd], FD_CLOEXEC);
                n_new += before[fd] != during[fd];
        }
        ck_assert_uint_eq(n_new, 1);
}
END_TEST

static const struct {
        const char *reply;
        int error;
        uint64_t time;
} TIMES[] = {
        {"{\"parameters\":{\"time\":\"473.414890639\"}}", 0, UINT64_C(473414890639)},
        {"{\"parameters\":{\"time\":\"473\"}}", -EBADMSG, 0},
        {"{\"parameters\":{}}", -EBADMSG, 0},
        {"{\"error\":\"org.varlink.service.InvalidParameter\"}", -EINVAL, 0},
        {"{\"error\":\"org.varlink.service.MethodNotFound\"}", -EREMOTEIO, 0},
};

static void play_time(FakeDaemon *fake)
{
        fake_accept(fake);
        fake_expect_call(fake, ".ParseTime\",\"parameters\":{\"text\":\"a\\\"b\"}}");
        fake_reply(fake, fake->data);
}

START_TEST(test_time)
{
        g_autoptr(FakeDaemon) fake = fake_daemon_new(play_time, TIMES[_i].reply);
        clrsym *handle = open_fake(fake, -1);
        uint64_t time = 0;

        ck_assert_int_eq(clrsym_time(handle, "\xff", &time), -EINVAL);
        ck_assert_int_eq(clrsym_time(handle, "a\"b", &time), TIMES[_i].error);
        ck_assert_uint_eq(time, TIMES[_i].time);
        clrsym_close(handle);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("client-call");
        TCase *tcase = tcase_create("client-call");

        tcase_set_timeout(tcase, 60);
        tcase_add_test(tcase, test_every_cut);
        tcase_add_loop_test(tcase, test_reply, 0, G_N_ELEMENTS(REPLIES));
        tcase_add_test(tcase, test_more);
        tcase_add_test(tcase, test_stopped);
        tcase_add_test(tcase, test_restart);
        tcase_add_loop_test(tcase, test_hang_up, 0, 2);
        tcase_add_test(tcase, test_hang_up_later);
        tcase_add_test(tcase, test_open);
        tcase_add_test(tcase, test_busy);
        tcase_add_test(tcase, test_descriptors);
        tcase_add_loop_test(tcase, test_time, 0, G_N_ELEMENTS(TIMES));
        suite_add_tcase(suite, tcase);
        return suite;
}
