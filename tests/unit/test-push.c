/* SPDX-License-Identifier: MIT */
#include "push/push-attempt.h"
#include "push/push-request.h"
#include "push/series-index.h"

#include "support/suite.h"

#include <jansson.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

START_TEST(test_container)
{
        static const struct {
                const char *cgroup, *container;
        } ROWS[] = {
                {"", NULL},
                {"0::/\n", NULL},
                {"0::/user.slice/user-1000.slice/session-2.scope\n", NULL},
                {"0::/system.slice/docker-" ID ".scope\n", ID},
                {"12:pids:/docker/" ID "\n", ID},
                {"0::/kubepods/pod1/cri-containerd-" ID ".scope\n", ID},
                /* The innermost container. */
                {"0::/docker/" ID "/docker/f"
                 "123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n",
                 "f123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"},
                {"0::/docker/" ID "0\n", NULL},
                {"0::/docker/0" ID, NULL},
        };
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(ROWS); i++) {
                g_autofree char *container = process_series_container(ROWS[i].cgroup);

                ck_assert_msg(!g_strcmp0(container, ROWS[i].container), "%s", ROWS[i].cgroup);
        }
}
END_TEST

#define ARGUMENTS(text) text, sizeof(text) - 1

START_TEST(test_assembly)
{
        static const struct {
                const char *arguments;
                size_t n;
                const char *assembly;
        } ROWS[] = {
                {ARGUMENTS(""), NULL},
                {ARGUMENTS("dotnet\0"), NULL},
                {ARGUMENTS("dotnet\0orders.dll\0"), "orders"},
                {ARGUMENTS("dotnet\0/srv/orders.dll\0--port\0"
                           "1"),
                 "orders"},
                {ARGUMENTS("dotnet\0--roll-forward=Major\0orders.dll"), "orders"},
                {ARGUMENTS("dotnet\0build\0x.dll\0"), NULL},
                {ARGUMENTS("dotnet\0.dll\0"), NULL},
                {ARGUMENTS("dotnet"), NULL},
        };
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(ROWS); i++) {
                g_autofree char *assembly = process_series_assembly(ROWS[i].arguments, ROWS[i].n);

                ck_assert_msg(!g_strcmp0(assembly, ROWS[i].assembly), "row %zu", i);
        }
}
END_TEST

START_TEST(test_process)
{
        ProcessSeries series;
        g_autofree char *comm = NULL;

        g_file_get_contents("/proc/self/comm", &comm, NULL, NULL);
        process_series_init(&series, getpid(), UINT64_MAX, "before");
        ck_assert_str_eq(series.process, g_strchomp(comm));
        process_series_clear(&series);
        /* Another process had the pid before this process began. */
        process_series_init(&series, getpid(), 1, "kworker/0:1-events");
        ck_assert_str_eq(series.process, "kworker");
        ck_assert_ptr_null(series.container);
        process_series_clear(&series);
}
END_TEST

/* An ended process keeps its labels for one more part. */
START_TEST(test_index)
{
        SeriesIndex *index = series_index_new();
        const char *name = series_index_find(index, getpid(), UINT64_MAX, "thread")->process;
        g_autofree char *own = g_strdup(name);

        ck_assert_str_ne(own, "thread");
        series_index_end_part(index);
        ck_assert_str_eq(series_index_find(index, getpid(), 1, "thread")->process, own);
        ck_assert_str_eq(series_index_find(index, getpid(), 1, "other")->process, "other");
        series_index_end_part(index);
        series_index_end_part(index);
        ck_assert_str_eq(series_index_find(index, getpid(), 1, "thread")->process, "thread");
        series_index_free(index);
}
END_TEST

START_TEST(test_url)
{
        static const char *const BAD[] = {
                "",          "localhost",  "localhost:4040", "ftp://host", "file:///x",  "http://",
                "http:///x", "http://h?x", "http://h/#x",    "http://h h", "http://h/\n"};
        g_autofree char *shown = NULL;
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(BAD); i++)
                ck_assert_msg(push_url_check(BAD[i]) != NULL, "%s", BAD[i]);
        ck_assert_ptr_null(push_url_check("http://localhost:4040"));
        shown = push_url_shown("https://user:secret@h:1/a/");
        ck_assert_str_eq(shown, "https://h:1/a/");
        ck_assert_ptr_null(push_url_check("https://user@[::1]:4040/a/"));
}
END_TEST

/* A profile is sent again only if the store certainly does not have it; and the error tells the
 * user what to do. */
START_TEST(test_status)
{
        static const struct {
                long status;
                const char *location;
                PushOutcome outcome;
                const char *advice; /* part of the advice; NULL: no advice */
        } ROWS[] = {
                {200, NULL, PUSH_SENT, NULL},
                {204, NULL, PUSH_SENT, NULL},
                {302, "https://h/ingest?name=x", PUSH_REFUSED, "if https://h/ingest is the store"},
                {304, NULL, PUSH_REFUSED, NULL},
                {400, NULL, PUSH_REFUSED, NULL},
                {401, NULL, PUSH_REFUSED, "CLRSYM_PUSH_TOKEN"},
                {403, NULL, PUSH_REFUSED, "CLRSYM_PUSH_TOKEN"},
                {404, NULL, PUSH_REFUSED, "/profiles/writeraw"},
                {408, NULL, PUSH_UNCLEAR, NULL},
                {413, NULL, PUSH_REFUSED, "--every"},
                {429, NULL, PUSH_NOT_TAKEN, NULL},
                {500, NULL, PUSH_NOT_TAKEN, NULL},
                {502, NULL, PUSH_UNCLEAR, NULL},
                {503, NULL, PUSH_NOT_TAKEN, NULL},
                {504, NULL, PUSH_UNCLEAR, NULL},
        };
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(ROWS); i++) {
                const char *want = ROWS[i].advice;
                g_autofree char *advice = push_status_advice(ROWS[i].status, ROWS[i].location);

                ck_assert_msg(push_outcome_of_status(ROWS[i].status) == ROWS[i].outcome,
                              "status %ld", ROWS[i].status);
                ck_assert_msg(want ? strstr(advice, want) != NULL : !*advice, "status %ld: %s",
                              ROWS[i].status, advice);
        }
}
END_TEST

static PushItem *item_new(const char *process, const char *container)
{
        PushItem *item = g_new0(PushItem, 1);

        *item = (PushItem){.series = {g_strdup(process), g_strdup(container)},
                           .profile = g_bytes_new("\x1f\x8b", 2),
                           .from = 10,
                           .until = 20};
        return item;
}

START_TEST(test_request)
{
        static const struct {
                const char *url, *process, *container, *want;
        } ROWS[] = {
                {"http://h", "app", NULL,
                 "http://h/ingest?name=app%7Bhost%3Dme%2Cprocess%3Dapp%7D"},
                {"http://h/", "app", NULL,
                 "http://h/ingest?name=app%7Bhost%3Dme%2Cprocess%3Dapp%7D"},
                {"http://h/p/ingest", "app", "12",
                 "http://h/p/ingest?name=app%7Bhost%3Dme%2Cprocess%3Dapp%2Ccontainer_id%3D12%7D"},
                /* A process cannot add labels through its name. */
                {"http://h", "a,b=\"c\"}&x", NULL,
                 "http://h/ingest?name=a_b__c___x%7Bhost%3Dme%2Cprocess%3Da_b__c__%26x%7D"},
        };
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(ROWS); i++) {
                PushItem *item = item_new(ROWS[i].process, ROWS[i].container);
                g_autofree char *url = push_request_url(ROWS[i].url, item, "me");
                g_autofree char *want = g_strconcat(
                        ROWS[i].want, "&from=10&until=20&format=pprof&spyName=clrsym", NULL);

                ck_assert_str_eq(url, want);
                push_item_free(item);
        }
}
END_TEST

START_TEST(test_parca)
{
        PushItem *item = item_new("a\xff\"b", "12");
        const char *url = "http://h/api/profiles/writeraw";
        g_autofree char *where = push_request_url(url, item, "me");
        char *text = push_request_json(item, "me");
        json_t *body = json_loads(text, 0, NULL), *series;

        ck_assert_str_eq(where, url);
        ck_assert_int_eq(push_url_kind(url), PUSH_PARCA);
        ck_assert_int_eq(push_url_kind("http://h/api/profiles/writeraw/"), PUSH_PARCA);
        ck_assert_int_eq(push_url_kind("http://h/profiles"), PUSH_PYROSCOPE);
        ck_assert_int_eq(push_url_kind("https://h:4318/v1development/profiles"), PUSH_OTLP);
        ck_assert_int_eq(push_url_kind("https://h:4318/v1development/profiles/"), PUSH_OTLP);
        series = json_array_get(json_object_get(body, "series"), 0);
        ck_assert_str_eq(
                json_string_value(json_object_get(
                        json_array_get(json_object_get(series, "samples"), 0), "rawProfile")),
                "H4s=");
        ck_assert_uint_eq(
                json_array_size(json_object_get(json_object_get(series, "labels"), "labels")), 4);
        json_decref(body);
        free(text);
        push_item_free(item);
}
END_TEST

static const struct {
        const char *bytes;
        size_t n;
        const char *reason; /* NULL: the store took all samples */
} RESPONSES[] = {
        {"", 0, NULL},
        {"\x0a\x00", 2, NULL},
        {"\x0a\x02\x12\x00", 4, NULL}, /* a warning: no sample was rejected */
        {"\x0a\x07\x08\x01\x12\x03old", 9, "old"},
        {"\x0a\x07\x12\x03old\x08\x01", 9, "old"},
        {"\x0a\x03\x08\x80\x01", 5, ""},
        /* Unknown fields are skipped. */
        {"\x15zzzz\x19zzzzzzzz\x20\x05\x0a\x02\x08\x01", 20, ""},
        {"\x0a\x7f\x08\x01", 4, NULL}, /* truncated */
        {"\x0b", 1, NULL},
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 11, NULL},
};

START_TEST(test_response)
{
        char *reason = NULL;
        const bool rejects = push_response_rejects((const uint8_t *)RESPONSES[_i].bytes,
                                                   RESPONSES[_i].n, &reason);

        ck_assert_int_eq(rejects, RESPONSES[_i].reason != NULL);
        ck_assert_int_eq(g_strcmp0(reason, RESPONSES[_i].reason), 0);
        g_free(reason);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("push");
        TCase *tcase = tcase_create("push");

        tcase_add_test(tcase, test_container);
        tcase_add_test(tcase, test_assembly);
        tcase_add_test(tcase, test_process);
        tcase_add_test(tcase, test_index);
        tcase_add_test(tcase, test_status);
        tcase_add_test(tcase, test_url);
        tcase_add_test(tcase, test_request);
        tcase_add_test(tcase, test_parca);
        tcase_add_loop_test(tcase, test_response, 0, G_N_ELEMENTS(RESPONSES));
        suite_add_tcase(suite, tcase);
        return suite;
}
