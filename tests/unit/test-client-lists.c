/* SPDX-License-Identifier: MIT */

/* Lists and events of the client library: each row is either decoded correctly or refused */

#include "clrsym/clrsym.h"

#include "support/fake-daemon.h"
#include "support/suite.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#define BODY                                                                                       \
        "\"symbol\":\"N.T.M()\",\"method\":{\"id\":\"0x7ff0\",\"namespace\":\"N.T\",\"name\":"     \
        "\"Mß\",\"signature\":null,\"token\":\"0x06000001\",\"stub_for\":{"                       \
        "\"namespace\":\"N.S\",\"name\":\"Call\",\"signature\":null}},"                            \
        "\"start\":\"0x1000\",\"size\":16,"                                                        \
        "\"flags\":392,\"version\":{\"rejit_id\":3,\"il_version\":4,\"tier\":\"QuickJitted\"},"    \
        "\"module\":{\"id\":\"0xab\",\"path\":\"/x.dll\"},\"jit_ms\":1.234,"                       \
        "\"loaded\":\"20.000000001\",\"unloaded\":null,\"source\":\"load\""
#define BODY_ROW "{\"pid\":100,\"pid_ns\":5,\"generation\":2," BODY "}"
#define PROCESS_ROW                                                                                \
        "{\"pid\":100,\"pid_ns\":5,\"generation\":2,\"state\":\"running\",\"runtime\":\"10.0."     \
        "12\","                                                                                    \
        "\"runtime_path\":\"/lib/x.so\",\"command\":null,\"bodies\":7,\"live\":6,\"modules\":5,"   \
        "\"since\":\"9.000000000\",\"from_start\":true,\"last\":\"23.000000000\",\"exited\":null," \
        "\"horizon\":\"30.000000000\",\"epoch\":77}"

static clrsym *open_fake(const FakeDaemon *fake)
{
        const clrsym_options options = {.socket = fake->path, .reconnect_ms = -1};
        clrsym *handle;

        ck_assert_int_eq(clrsym_open(&handle, &options, NULL), 0);
        return handle;
}

static void check_body(const clrsym_body *body)
{
        ck_assert_str_eq(body->name_space, "N.T");
        ck_assert_str_eq(body->name, "Mß");
        ck_assert_ptr_null(body->signature);
        ck_assert_str_eq(body->module_path, "/x.dll");
        ck_assert_uint_eq(body->module_id, 0xab);
        ck_assert_uint_eq(body->method_id, 0x7ff0);
        ck_assert_uint_eq(body->start, 0x1000);
        ck_assert_uint_eq(body->size, 16);
        ck_assert_uint_eq(body->flags, 392);
        ck_assert_uint_eq(body->token, 0x06000001);
        ck_assert_uint_eq(body->rejit_id, 3);
        ck_assert(body->has_il_version && body->il_version == 4);
        ck_assert_int_eq(body->tier, CLRSYM_TIER_QUICK_JITTED);
        ck_assert_int_eq(body->source, CLRSYM_SOURCE_LOAD);
        ck_assert_uint_eq(body->jit_ns, 1234000);
        ck_assert_uint_eq(body->loaded, UINT64_C(20000000001));
        ck_assert_uint_eq(body->unloaded, CLRSYM_ALIVE);
        ck_assert_str_eq(body->stub_name_space, "N.S");
        ck_assert_str_eq(body->stub_name, "Call");
        ck_assert_ptr_null(body->stub_signature);
}

/* The filter of a list, the expected call, and the member with the rows. */
typedef struct ListRow {
        const char *call; /* part of the call */
        const char *member;
        clrsym_filter filter;
} ListRow;

static const ListRow LISTS[] = {
        {"ListProcesses\",\"parameters\":{},\"more\":true}", "processes", {0}},
        {"ListMethods\",\"parameters\":{\"pid\":100,\"pid_ns\":5,\"all\":true,"
         "\"time\":\"20.000000001\"},\"more\":true}",
         "methods",
         {.pid = 100,
          .has_pid_ns = true,
          .pid_ns = 5,
          .all = true,
          .has_time = true,
          .time = UINT64_C(20000000001)}},
        {"ListMethods\",\"parameters\":{},\"more\":true}", "methods", {0}},
        {"History\",\"parameters\":{\"pid\":100,\"addr\":\"0x1008\"},\"more\":true}",
         "bodies",
         {.pid = 100, .all = true, .has_time = true, .time = 5}},
        {"Versions\",\"parameters\":{\"pid_ns\":5,\"method\":\"N.T.\\\"M\"},\"more\":true}",
         "bodies",
         {.has_pid_ns = true, .pid_ns = 5}},
};

static int on_process(const clrsym_process *process, void *data)
{
        ck_assert_int_eq(process->pid, 100);
        ck_assert_uint_eq(process->pid_ns, 5);
        ck_assert_uint_eq(process->generation, 2);
        ck_assert(process->is_running && process->is_from_start);
        ck_assert_int_eq(process->state, CLRSYM_RUNNING);
        ck_assert_str_eq(process->runtime, "10.0.12");
        ck_assert_str_eq(process->runtime_path, "/lib/x.so");
        ck_assert_ptr_null(process->command);
        ck_assert_uint_eq(process->n_bodies, 7);
        ck_assert_uint_eq(process->n_live, 6);
        ck_assert_uint_eq(process->n_modules, 5);
        ck_assert_uint_eq(process->since, UINT64_C(9000000000));
        ck_assert_uint_eq(process->last, UINT64_C(23000000000));
        ck_assert_uint_eq(process->exited, CLRSYM_ALIVE);
        ck_assert_uint_eq(process->horizon, UINT64_C(30000000000));
        ck_assert_uint_eq(process->epoch, 77);
        return ++*(int *)data == 3 ? 9 : 0;
}

static int on_body(const clrsym_process *process, const clrsym_body *body, void *data)
{
        ck_assert_int_eq(process->pid, 100);
        ck_assert_uint_eq(process->pid_ns, 5);
        ck_assert_uint_eq(process->generation, 2);
        check_body(body);
        return ++*(int *)data == 3 ? 9 : 0;
}

static int list(clrsym *handle, const ListRow *row, int *n)
{
        *n = 0;
        if (strstr(row->call, "ListProcesses"))
                return clrsym_processes(handle, on_process, n);
        if (strstr(row->call, "ListMethods"))
                return clrsym_methods(handle, &row->filter, on_body, n);
        if (strstr(row->call, "History"))
                return clrsym_history(handle, &row->filter, 0x1008, on_body, n);
        return clrsym_versions(handle, &row->filter, "N.T.\"M", on_body, n);
}

static void play_list(FakeDaemon *fake)
{
        const ListRow *row = fake->data;
        const char *element = strstr(row->call, "ListProcesses") ? PROCESS_ROW : BODY_ROW;
        g_autofree char *none =
                g_strdup_printf("{\"parameters\":{\"%s\":[]},\"continues\":true}", row->member);
        g_autofree char *last_none = g_strdup_printf("{\"parameters\":{\"%s\":[]}}", row->member);
        g_autofree char *two =
                g_strdup_printf("{\"parameters\":{\"%s\":[%s,%s]},\"continues\":true}", row->member,
                                element, element);
        g_autofree char *last =
                g_strdup_printf("{\"parameters\":{\"%s\":[%s]}}", row->member, element);

        fake_accept(fake);
        fake_expect_call(fake, row->call);
        fake_reply(fake, none);
        fake_reply(fake, last_none);
        fake_expect_call(fake, row->call);
        fake_reply(fake, two);
        fake_reply(fake, last);
}

START_TEST(test_list)
{
        g_autoptr(FakeDaemon) fake = fake_daemon_new(play_list, &LISTS[_i]);
        clrsym *handle = open_fake(fake);
        int n;

        ck_assert_int_eq(list(handle, &LISTS[_i], &n), 0);
        ck_assert_int_eq(n, 0);
        /* The third row ends the list. */
        ck_assert_int_eq(list(handle, &LISTS[_i], &n), 9);
        ck_assert_int_eq(n, 3);
        clrsym_close(handle);
}
END_TEST

/* A replaced TEXT of a row: the error names the member WRONG; NULL: no error. */
static const struct {
        const char *text, *replacement, *wrong;
} BODY_CHANGES[] = {
        {"\"pid\":100", "\"pid\":-1", "pid"},
        {"\"pid\":100", "\"pid\":4294967396", "pid"},
        {"\"pid\":100", "\"pid\":\"100\"", "pid"},
        {"\"pid_ns\":5", "\"pid_ns\":null", "pid_ns"},
        {"\"generation\":2", "\"generation\":1.5", "generation"},
        {"\"generation\":2,", "", "generation"},
        {"\"id\":\"0x7ff0\"", "\"id\":\"7ff0\"", "id"},
        {"\"id\":\"0x7ff0\"", "\"id\":\"0x\"", "id"},
        {"\"id\":\"0x7ff0\"", "\"id\":\"0x7FF0\"", "id"},
        {"\"id\":\"0x7ff0\"", "\"id\":\"0x12345678123456789\"", "id"},
        {"\"id\":\"0x7ff0\"", "\"id\":null", "id"},
        {"\"id\":\"0x7ff0\"", "\"id\":32752", "id"},
        {"\"namespace\":\"N.T\"", "\"namespace\":5", "namespace"},
        {"\"name\":\"Mß\"", "\"name\":[]", "name"},
        {"\"name\":\"Mß\"", "\"nam\":\"Mß\"", "name"},
        {"\"signature\":null", "\"signature\":true", "signature"},
        {"\"token\":\"0x06000001\"", "\"token\":\"0x106000001\"", "token"},
        {"\"stub_for\":{", "\"stub_for\":5,\"s\":{", "stub_for"},
        {"\"name\":\"Call\"", "\"name\":5", "name"},
        {"\"name\":\"Call\",", "", "name"},
        {"\"start\":\"0x1000\"", "\"start\":null", "start"},
        {"\"start\":\"0x1000\"", "\"start\":\"0xfffffffffffffff1\"", "size"},
        {"\"size\":16", "\"size\":-16", "size"},
        {"\"size\":16", "\"size\":4294967296", "size"},
        {"\"flags\":392", "\"flags\":\"x\"", "flags"},
        {"\"rejit_id\":3", "\"rejit_id\":null", "rejit_id"},
        {"\"il_version\":4", "\"il_version\":-4", "il_version"},
        {"\"tier\":\"QuickJitted\"", "\"tier\":\"Quick\"", "tier"},
        {"\"module\":{\"id\":\"0xab\",\"path\":\"/x.dll\"}", "\"module\":5", "module"},
        {"\"module\":{\"id\":\"0xab\"", "\"module\":{\"id\":5", "id"},
        {"\"path\":\"/x.dll\"", "\"path\":7", "path"},
        {"\"jit_ms\":1.234", "\"jit_ms\":-1.0", "jit_ms"},
        {"\"jit_ms\":1.234", "\"jit_ms\":1e300", "jit_ms"},
        {"\"jit_ms\":1.234", "\"jit_ms\":\"1\"", "jit_ms"},
        {"\"loaded\":\"20.000000001\"", "\"loaded\":20", "loaded"},
        {"\"loaded\":\"20.000000001\"", "\"loaded\":\"20\"", "loaded"},
        {"\"unloaded\":null", "\"unloaded\":\"\"", "unloaded"},
        {"\"source\":\"load\"", "\"source\":\"guess\"", "source"},
        {"\"source\":\"load\"", "\"source\":null", "source"},
        {"\"method\":{", "\"method\":5,\"m\":{", "method"},
        {"\"version\":{", "\"version\":[],\"v\":{", "version"},
        {BODY_ROW, "5", "pid"},
        {BODY_ROW, "[]", "pid"},
        {"\"methods\":[", "\"methods\":5,\"m\":[", "methods"},
        {"\"methods\":[", "\"bodies\":[", "methods"},
        /* Rows without an error. */
        {"\"signature\":null", "\"signature\":null,\"new\":[{}]", NULL},
};

static void play_row(FakeDaemon *fake)
{
        fake_accept(fake);
        fake_expect_call(fake, "ListMethods");
        fake_reply(fake, fake->data);
}

START_TEST(test_bad_body)
{
        g_autoptr(GString) reply =
                g_string_new("{\"parameters\":{\"methods\":[" BODY_ROW "," BODY_ROW "]}}");
        g_autoptr(FakeDaemon) fake = NULL;
        clrsym *handle;
        int n = 0, r;

        ck_assert_int_ge(
                g_string_replace(reply, BODY_CHANGES[_i].text, BODY_CHANGES[_i].replacement, 1), 1);
        fake = fake_daemon_new(play_row, reply->str);
        handle = open_fake(fake);
        r = clrsym_methods(handle, NULL, on_body, &n);
        if (BODY_CHANGES[_i].wrong) {
                g_autofree char *said = g_strdup_printf("do not match: ListMethods: \"%s\"",
                                                        BODY_CHANGES[_i].wrong);

                ck_assert_int_eq(r, -EBADMSG);
                ck_assert_int_eq(n, 0);
                ck_assert_ptr_nonnull(strstr(clrsym_message(handle), said));
        } else {
                ck_assert_int_eq(r, 0);
                ck_assert_int_eq(n, 2);
        }
        clrsym_close(handle);
}
END_TEST

/* A body without module, stub and times. */
static int on_bare_body(const clrsym_process *process, const clrsym_body *body, void *data)
{
        ck_assert(!body->name && !body->module_path && !body->has_il_version && !body->stub_name);
        ck_assert(body->size == 0 && body->flags == 0 && body->token == 0 && body->jit_ns == 0);
        ck_assert(body->loaded == CLRSYM_NO_TIME && body->unloaded == 5);
        ck_assert_int_eq(body->tier, CLRSYM_TIER_READY_TO_RUN);
        ck_assert_int_eq(body->source, CLRSYM_SOURCE_R2R_ENTRY);
        ++*(int *)data;
        return 0;
}

START_TEST(test_bare_body)
{
        g_autoptr(FakeDaemon) fake = fake_daemon_new(
                play_row,
                "{\"parameters\":{\"methods\":[{\"pid\":1,\"pid_ns\":0,\"generation\":1,\"method\":"
                "{\"id\":\"0x1\",\"namespace\":null,\"name\":null,\"signature\":null,\"token\":null"
                "},\"start\":\"0xffffffffffffffff\",\"size\":null,\"flags\":null,\"version\":"
                "{\"rejit_id\":0,\"il_version\":null,\"tier\":\"ReadyToRun\"},\"module\":null,"
                "\"jit_ms\":null,\"loaded\":null,\"unloaded\":\"0.000000005\","
                "\"source\":\"r2r-entry\"}]}}");
        clrsym *handle = open_fake(fake);
        int n = 0;

        ck_assert_int_eq(clrsym_methods(handle, NULL, on_bare_body, &n), 0);
        ck_assert_int_eq(n, 1);
        clrsym_close(handle);
}
END_TEST

static void play_end(FakeDaemon *fake)
{
        fake_accept(fake);
        fake_expect_end(fake);
}

START_TEST(test_bad_filter)
{
        g_autoptr(FakeDaemon) fake = fake_daemon_new(play_end, NULL);
        const clrsym_filter pid = {.pid = -1}, pid_ns = {.has_pid_ns = true, .pid_ns = UINT64_MAX};
        clrsym *handle = open_fake(fake);
        clrsym_watch *watch;
        int n = 0;

        ck_assert_int_eq(clrsym_methods(handle, &pid, on_body, &n), -EINVAL);
        ck_assert_int_eq(clrsym_methods(handle, &pid_ns, on_body, &n), -EINVAL);
        ck_assert_int_eq(clrsym_versions(handle, NULL, "\xff", on_body, &n), -EINVAL);
        ck_assert_ptr_nonnull(strstr(clrsym_message(handle), "UTF-8"));
        ck_assert_int_eq(clrsym_watch_open(handle, &pid, &watch), -EINVAL);
        ck_assert_str_eq(clrsym_message(handle), "there is no process -1");
        clrsym_close(handle);
}
END_TEST

#define KEY "\"pid\":100,\"pid_ns\":5,\"generation\":2,\"epoch\":77"

static void play_watch(FakeDaemon *fake)
{
        int listen_fd;

        fake_accept(fake); /* connection of the handle */
        listen_fd = fake->fd;
        fake->fd = -1;
        fake_accept(fake);
        fake_expect_call(fake, "Watch\",\"parameters\":{\"pid\":100},\"more\":true}");
        for (fake->cut = 1; fake->cut < 150; fake->cut++)
                fake_reply(fake, "{\"parameters\":{\"events\":[{\"event\":\"epoch\"," KEY "},"
                                 "{\"event\":\"load\"," KEY "," BODY "}]},\"continues\":true}");
        fake->cut = 0;
        fake_reply(fake, "{\"parameters\":{\"events\":[]},\"continues\":true}");
        fake_reply(fake, "{\"parameters\":{\"events\":[{\"event\":\"unload\"," KEY "," BODY "}]},"
                         "\"continues\":true}");
        fake_reply(fake,
                   "{\"parameters\":{\"events\":[{\"event\":\"resync\"}]},\"continues\":true}");
        /* A restart, and a second restart that ends the watch. */
        fake_stop_listening(fake);
        fake_hang_up(fake);
        g_usleep(300000);
        fake_listen(fake);
        fake_accept(fake);
        fake_expect_call(fake, "Watch\",\"parameters\":{\"pid\":100},\"more\":true}");
        fake_reply(fake, "{\"parameters\":{\"events\":[{\"event\":\"epoch\"," KEY "}]},"
                         "\"continues\":true}");
        fake_stop_listening(fake);
        fake_hang_up(fake);
        fake->fd = listen_fd;
}

static void expect_event(clrsym_watch *watch, clrsym_event_type type)
{
        clrsym_event event;

        ck_assert_int_eq(clrsym_watch_next(watch, 20000, &event), 1);
        ck_assert_int_eq(event.type, type);
        ck_assert_int_eq(event.pid, type == CLRSYM_EVENT_RESYNC ? 0 : 100);
        ck_assert_uint_eq(event.pid_ns, type == CLRSYM_EVENT_RESYNC ? 0 : 5);
        ck_assert_uint_eq(event.generation, type == CLRSYM_EVENT_RESYNC ? 0 : 2);
        ck_assert_uint_eq(event.epoch, type == CLRSYM_EVENT_RESYNC ? 0 : 77);
        ck_assert(event.has_body == (type == CLRSYM_EVENT_LOAD || type == CLRSYM_EVENT_UNLOAD));
        if (event.has_body)
                check_body(&event.body);
}

START_TEST(test_watch)
{
        g_autoptr(FakeDaemon) fake = fake_daemon_new(play_watch, NULL);
        const clrsym_options options = {.socket = fake->path, .reconnect_ms = 1000};
        const clrsym_filter filter = {.pid = 100};
        clrsym_watch *watch;
        clrsym_event event;
        clrsym *handle;
        int fd, i, r;

        ck_assert_int_eq(clrsym_open(&handle, &options, NULL), 0);
        ck_assert_int_eq(clrsym_watch_open(handle, &filter, &watch), 0);
        fd = clrsym_watch_fd(watch);
        for (i = 1; i < 150; i++) {
                expect_event(watch, CLRSYM_EVENT_EPOCH);
                expect_event(watch, CLRSYM_EVENT_LOAD);
        }
        expect_event(watch, CLRSYM_EVENT_UNLOAD);
        expect_event(watch, CLRSYM_EVENT_RESYNC);
        /* The loop of a program that polls the watch's descriptor itself. */
        do {
                struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

                ck_assert_int_eq(poll(&poll_fd, 1, 20000), 1);
                r = clrsym_watch_next(watch, 0, &event);
        } while (r == 0);
        ck_assert(r == 1 && event.type == CLRSYM_EVENT_RESYNC);
        expect_event(watch, CLRSYM_EVENT_EPOCH);
        ck_assert_int_eq(clrsym_watch_fd(watch), fd);
        ck_assert_int_eq(clrsym_watch_next(watch, 10, &event), 0);
        /* The watch has ended. */
        ck_assert_int_eq(clrsym_watch_next(watch, -1, &event), -ENOENT);
        ck_assert_ptr_nonnull(strstr(clrsym_watch_message(watch), "no daemon at"));
        ck_assert_int_eq(clrsym_watch_next(watch, -1, &event), -ENOENT);
        clrsym_watch_close(watch);
        clrsym_watch_close(NULL);
        clrsym_close(handle);
}
END_TEST

static const struct {
        const char *reply;
        int error;
        const char *said;
} WATCH_REPLIES[] = {
        {"{\"error\":\"org.varlink.service.MethodNotFound\"}", -EREMOTEIO, "MethodNotFound"},
        {"{}", -EBADMSG, "events"},
        {"{\"parameters\":{\"events\":[]}}", -EBADMSG, "events"},
        {"{\"parameters\":{\"events\":5},\"continues\":true}", -EBADMSG, "events"},
        {"x", -EBADMSG, "is not clrsymd"},
        {"{\"parameters\":{\"events\":[5]},\"continues\":true}", -EBADMSG, "\"event\""},
        {"{\"parameters\":{\"events\":[{}]},\"continues\":true}", -EBADMSG, "\"event\""},
        {"{\"parameters\":{\"events\":[{\"event\":\"x\"}]},\"continues\":true}", -EBADMSG,
         "\"event\""},
        {"{\"parameters\":{\"events\":[{\"event\":\"epoch\"}]},\"continues\":true}", -EBADMSG,
         "\"pid\""},
        {"{\"parameters\":{\"events\":[{\"event\":\"load\"," KEY "}]},\"continues\":true}",
         -EBADMSG, "\"method\""},
};

static void play_bad_watch(FakeDaemon *fake)
{
        fake_accept(fake);
        fake_accept(fake);
        fake_expect_call(fake, "Watch");
        fake_reply(fake, fake->data);
}

START_TEST(test_bad_watch)
{
        g_autoptr(FakeDaemon) fake = fake_daemon_new(play_bad_watch, WATCH_REPLIES[_i].reply);
        clrsym *handle = open_fake(fake);
        clrsym_watch *watch;
        clrsym_event event;
        int r = clrsym_watch_open(handle, NULL, &watch);

        if (r == 0) {
                ck_assert_int_eq(clrsym_watch_next(watch, 20000, &event), WATCH_REPLIES[_i].error);
                ck_assert_ptr_nonnull(strstr(clrsym_watch_message(watch), WATCH_REPLIES[_i].said));
        } else {
                ck_assert_int_eq(r, WATCH_REPLIES[_i].error);
                ck_assert_ptr_nonnull(strstr(clrsym_message(handle), WATCH_REPLIES[_i].said));
        }
        clrsym_watch_close(watch);
        clrsym_close(handle);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("client-lists");
        TCase *tcase = tcase_create("client-lists");

        tcase_set_timeout(tcase, 60);
        tcase_add_loop_test(tcase, test_list, 0, G_N_ELEMENTS(LISTS));
        tcase_add_loop_test(tcase, test_bad_body, 0, G_N_ELEMENTS(BODY_CHANGES));
        tcase_add_test(tcase, test_bare_body);
        tcase_add_test(tcase, test_bad_filter);
        tcase_add_test(tcase, test_watch);
        tcase_add_loop_test(tcase, test_bad_watch, 0, G_N_ELEMENTS(WATCH_REPLIES));
        suite_add_tcase(suite, tcase);
        return suite;
}
