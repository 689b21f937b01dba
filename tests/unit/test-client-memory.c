/* SPDX-License-Identifier: MIT */

/*
 * Each allocation of the client library fails once: the library returns -ENOMEM, and leaks nothing.
 * The linker wraps the library's allocations; jansson has its own hooks.
 */

#include "clrsym/clrsym.h"

#include "support/fake-daemon.h"
#include "support/suite.h"

#include <errno.h>
#include <glib/gprintf.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t n);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t n);
char *__wrap_strdup(const char *text);
int __wrap_asprintf(char **ret, const char *format, ...);
int __wrap_vasprintf(char **ret, const char *format, va_list arguments);

/* Number of successful allocations before the failing one; counts only the test's own thread. */
static __thread unsigned n_left = UINT32_MAX;

/* True if a failed allocation was jansson's: jansson reports a string as invalid if it has no
 * memory for it. */
static __thread bool is_of_jansson;

static void *jansson_malloc(size_t n)
{
        if (n_left == 0)
                is_of_jansson = true;
        return __wrap_malloc(n);
}

static bool is_refused(void)
{
        return n_left-- == 0;
}

void *__wrap_malloc(size_t n)
{
        return is_refused() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
        return is_refused() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t n)
{
        return is_refused() ? NULL : __real_realloc(old, n);
}

char *__wrap_strdup(const char *text)
{
        return is_refused() ? NULL : __real_strdup(text);
}

int __wrap_vasprintf(char **ret, const char *format, va_list arguments)
{
        return is_refused() ? -1 : g_vasprintf(ret, format, arguments);
}

int __wrap_asprintf(char **ret, const char *format, ...)
{
        va_list arguments;
        int n;

        va_start(arguments, format);
        n = __wrap_vasprintf(ret, format, arguments);
        va_end(arguments);
        return n;
}

/* All strings are short, because jansson overflows a buffer if it has no memory for a string of 16
 * bytes, quotes included. */
#define ANSWER                                                                                     \
        "{\"pid\":1,\"pid_ns\":0,\"status\":\"ok\",\"method\":{\"id\":\"0x1\",\"namespace\":"      \
        "\"N\",\"name\":\"M\",\"signature\":null,\"token\":\"0x06000001\"},\"start\":\"0x1000\","  \
        "\"size\":16,\"offset\":8,\"flags\":392,\"version\":{\"rejit_id\":0,\"il_version\":null,"  \
        "\"tier\":\"QuickJitted\"},\"module\":null,\"il_offset\":null,\"il_kind\":null,"           \
        "\"inlined\":[{\"method\":\"a\",\"il_offset\":7}],\"jit_ms\":null,\"loaded\":null,"        \
        "\"unloaded\":null,\"source\":\"load\",\"confidence\":\"exact\",\"horizon\":"              \
        "\"9.000000000\",\"epoch\":3}"

static const struct {
        const char *call, *reply;
} REPLIES[] = {
        {"ParseTime", "{\"parameters\":{\"time\":\"1.000000000\"}}"},
        {"ListProcesses", "{\"parameters\":{\"processes\":[]}}"},
        {"ListMethods", "{\"parameters\":{\"methods\":[]}}"},
        {"Versions", "{\"parameters\":{\"bodies\":[]}}"},
        {"Resolve", "{\"parameters\":{\"answers\":[" ANSWER "]}}"},
        {"Watch", "{\"parameters\":{\"events\":[{\"event\":\"resync\"}]},\"continues\":true}"},
        {"Refused", "{\"error\":\"a.B\"}"},
        /* Rows of sizeof(BulkAnswer). */
        {"Bulk", "{\"parameters\":{\"version\":4,\"answer_size\":152,\"max_queries\":4096}}"},
};

/* Answers frames with names and processes, until the client hangs up. */
static void serve_bulk(FakeDaemon *fake)
{
        const BulkProcess process = {.pid = 1, .generation = 1};
        g_autofree BulkQuery *queries = g_new(BulkQuery, BULK_MAX_QUERIES);
        BulkHeader header;
        char c;

        while (recv(fake->fd, &c, 1, MSG_PEEK) > 0) {
                g_autoptr(GByteArray) out = g_byte_array_new();
                size_t n = fake_read_queries(fake, &header, queries), i;
                g_autofree BulkAnswer *answers = g_new0(BulkAnswer, n);

                for (i = 0; i < n; i++)
                        answers[i].status = CLRSYM_NO_METHOD;
                frame_append_name(out, 1 + header.tag, "A", 1);
                frame_append(out, BULK_PROCESSES, 0, &process, sizeof(process));
                frame_append(out, BULK_ANSWERS, header.tag, answers, n * sizeof(*answers));
                fake_send(fake, out->data, out->len);
        }
}

static void *serve(void *data)
{
        FakeDaemon fake = {.fd = GPOINTER_TO_INT(data), .listen_fd = -1};
        char *call;
        size_t i;

        while ((call = fake_read_call(&fake))) {
                for (i = 0; !strstr(call, REPLIES[i].call); i++)
                        ;
                fake_reply(&fake, REPLIES[i].reply);
                if (!strcmp(REPLIES[i].call, "Bulk"))
                        serve_bulk(&fake);
                g_free(call);
        }
        fake_hang_up(&fake);
        return NULL;
}

static void play(FakeDaemon *fake)
{
        int fd;

        while ((fd = accept4(fake->listen_fd, NULL, NULL, SOCK_CLOEXEC)) >= 0)
                g_thread_unref(g_thread_new("client", serve, GINT_TO_POINTER(fd)));
}

static int on_body(const clrsym_process *process, const clrsym_body *body, void *data)
{
        return 0;
}

static int on_process(const clrsym_process *process, void *data)
{
        return 0;
}

static int on_answer(clrsym_row *row, void *data)
{
        const clrsym_answer il = {.il_kind = CLRSYM_IL_EXACT, .il_offset = 1, .line_il_offset = 2};
        clrsym_answer answer;
        int r = clrsym_row_answer(row, &answer);

        return r < 0 ? r : clrsym_row_set_il(row, &il);
}

#define N_QUERIES 5000

/* Returns the first error; 0 if no call failed. */
static int use_handle(clrsym *handle, clrsym_query *queries, clrsym_answer *answers)
{
        const clrsym_filter filter = {.pid = 1, .has_pid_ns = true, .all = true, .has_time = true};
        clrsym_watch *watch = NULL;
        clrsym_event event;
        uint64_t time;
        int r;

        if ((r = clrsym_time(handle, "now", &time)) < 0 ||
            (r = clrsym_processes(handle, on_process, NULL)) < 0 ||
            (r = clrsym_methods(handle, &filter, on_body, NULL)) < 0 ||
            (r = clrsym_versions(handle, &filter, "A.B", on_body, NULL)) < 0 ||
            (r = clrsym_rows(handle, "Resolve", NULL, "answers", 0, on_answer, NULL)) < 0 ||
            (r = clrsym_resolve(handle, queries, N_QUERIES, 0, answers)) < 0 ||
            (r = clrsym_watch_open(handle, &filter, &watch)) < 0)
                return r;
        r = clrsym_watch_next(watch, 20000, &event);
        clrsym_watch_close(watch);
        if (r < 0)
                return r;
        r = clrsym_call(handle, "Refused", NULL, 0, 0, NULL, NULL);
        return r == -EREMOTEIO ? 0 : r;
}

START_TEST(test_every_allocation)
{
        g_autoptr(FakeDaemon) fake = fake_daemon_new(play, NULL);
        const clrsym_options options = {.socket = fake->path, .reconnect_ms = -1};
        g_autofree clrsym_query *queries = g_new0(clrsym_query, N_QUERIES);
        g_autofree clrsym_answer *answers = g_new0(clrsym_answer, N_QUERIES);
        unsigned i;

        json_set_alloc_funcs(jansson_malloc, free);
        for (i = 0;; i++) {
                clrsym *handle = NULL;
                int r;

                n_left = i;
                is_of_jansson = false;
                r = clrsym_open(&handle, &options, NULL);
                if (r == 0)
                        r = use_handle(handle, queries, answers);
                if (n_left > i) { /* the failing allocation was not reached */
                        n_left = UINT32_MAX;
                        if (r && r != -ENOMEM && !(r == -EBADMSG && is_of_jansson))
                                ck_abort_msg("allocation %u: %s", i, strerror(-r));
                        if (handle && r == -ENOMEM)
                                ck_assert_str_eq(clrsym_message(handle), "out of memory");
                        /* The handle is still usable. */
                        if (handle)
                                ck_assert_int_eq(use_handle(handle, queries, answers), 0);
                        clrsym_close(handle);
                        continue;
                }
                n_left = UINT32_MAX;
                ck_assert_int_eq(r, 0);
                clrsym_close(handle);
                break;
        }
        ck_assert_uint_gt(i, 100);
        json_set_alloc_funcs(malloc, free);
        shutdown(fake->listen_fd, SHUT_RDWR);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("client-memory");
        TCase *tcase = tcase_create("client-memory");

        tcase_set_timeout(tcase, 100);
        tcase_add_test(tcase, test_every_allocation);
        suite_add_tcase(suite, tcase);
        return suite;
}
