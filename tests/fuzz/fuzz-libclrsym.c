/* SPDX-License-Identifier: MIT */

/*
 * Any output of a daemon to libclrsym, for any call: u8 function of the library, then steps. All
 * results are readable, and each failure has a message.
 */

#include "fuzz.h"
#include "clrsym/clrsym.h"
#include "wire/bulk.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

typedef enum StepKind {
        STEP_BYTES,   /* u16 size, raw bytes */
        STEP_REPLY,   /* u16 size, text: a reply */
        STEP_FRAME,   /* u8 type, u8 tag, u16 size, payload */
        STEP_UPGRADE, /* u8 version: the reply to the call Bulk */
        N_STEP_KINDS,
} StepKind;

enum {
        /* Number of connections that stay open, because a client may use a connection long after
         * its begin. */
        N_KEPT = 8,
        N_QUERIES = 3,
        MAX_EVENTS = 1000,
        MAX_WATCH_MS = 0,
};

/* The daemon: a thread that sends the same bytes to each connection, and ignores the requests. */
static struct {
        char *directory, *path;
        int listen_fd;
        GMutex lock;
        GBytes *bytes; /* owned */
} fake;

static volatile size_t n_seen;

static void fake_serve(int fd)
{
        g_autoptr(GBytes) bytes = NULL;
        gsize n;
        const void *data;

        g_mutex_lock(&fake.lock);
        bytes = g_bytes_ref(fake.bytes);
        g_mutex_unlock(&fake.lock);
        data = g_bytes_get_data(bytes, &n);
        if (n)
                (void)!send(fd, data, n, MSG_NOSIGNAL);
        shutdown(fd, SHUT_WR);
}

static void *fake_run(void *data)
{
        int kept[N_KEPT];
        unsigned n;

        memset(kept, -1, sizeof(kept));
        for (n = 0;; n++) {
                int fd = accept4(fake.listen_fd, NULL, NULL, SOCK_CLOEXEC);

                FUZZ_REQUIRE(fd >= 0);
                if (kept[n % N_KEPT] >= 0)
                        close(kept[n % N_KEPT]);
                kept[n % N_KEPT] = fd;
                fake_serve(fd);
        }
        return NULL;
}

static void fake_remove(void)
{
        g_unlink(fake.path);
        g_rmdir(fake.directory);
}

static void fake_start(void)
{
        struct sockaddr_un address = {.sun_family = AF_UNIX};

        fake.directory = g_dir_make_tmp("clrsym-fuzz-XXXXXX", NULL);
        FUZZ_REQUIRE(fake.directory);
        fake.path = g_build_filename(fake.directory, "query", NULL);
        g_strlcpy(address.sun_path, fake.path, sizeof(address.sun_path));
        fake.listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        FUZZ_REQUIRE(bind(fake.listen_fd, (const struct sockaddr *)&address, sizeof(address)) == 0);
        FUZZ_REQUIRE(listen(fake.listen_fd, 64) == 0);
        atexit(fake_remove);
        g_thread_unref(g_thread_new("fake", fake_run, NULL));
}

static void fake_set(FuzzInput *input)
{
        GByteArray *out = g_byte_array_new();
        GBytes *old;

        while (input->n > 0) {
                StepKind kind = (StepKind)(fuzz_take(input, 1) % N_STEP_KINDS);
                BulkHeader header = {0};
                g_autofree char *text = NULL;
                FuzzInput part;

                if (kind == STEP_UPGRADE) {
                        text = g_strdup_printf("{\"parameters\":{\"version\":%u,\"max_queries\":2,"
                                               "\"answer_size\":%zu}}",
                                               (unsigned)fuzz_take(input, 1), sizeof(BulkAnswer));
                        g_byte_array_append(out, (const guint8 *)text, (guint)strlen(text) + 1);
                        continue;
                }
                if (kind == STEP_FRAME) {
                        header.type = (uint16_t)fuzz_take(input, 1);
                        header.tag = (uint32_t)fuzz_take(input, 1);
                }
                part = fuzz_take_part(input, fuzz_take(input, 2));
                header.size = (uint32_t)part.n;
                if (kind == STEP_FRAME)
                        g_byte_array_append(out, (const guint8 *)&header, sizeof(header));
                g_byte_array_append(out, part.at, (guint)part.n);
                if (kind == STEP_REPLY)
                        g_byte_array_append(out, (const guint8 *)"", 1);
        }
        g_mutex_lock(&fake.lock);
        old = fake.bytes;
        fake.bytes = g_byte_array_free_to_bytes(out);
        g_mutex_unlock(&fake.lock);
        g_bytes_unref(old);
}

static void see_text(const char *text)
{
        if (!text)
                return;
        n_seen += strlen(text);
        FUZZ_REQUIRE(g_utf8_validate(text, -1, NULL));
}

static void see_body(const clrsym_body *body)
{
        char symbol[100];
        unsigned style;

        see_text(body->name_space);
        see_text(body->name);
        see_text(body->signature);
        see_text(body->module_path);
        see_text(body->stub_name_space);
        see_text(body->stub_name);
        see_text(body->stub_signature);
        FUZZ_REQUIRE(clrsym_tier_name(body->tier) && clrsym_source_name(body->source));
        for (style = 0; style <= CLRSYM_STYLE_SHORT; style++) {
                clrsym_symbol(body, (clrsym_style)style, symbol, sizeof(symbol));
                see_text(symbol);
        }
}

static int see_process(const clrsym_process *process, void *data)
{
        see_text(process->runtime);
        see_text(process->runtime_path);
        see_text(process->command);
        return 0;
}

static int see_row(const clrsym_process *process, const clrsym_body *body, void *data)
{
        see_body(body);
        return 0;
}

static int see_reply(const char *parameters, size_t n, void *data)
{
        FUZZ_REQUIRE(strlen(parameters) == n);
        see_text(parameters);
        return 0;
}

static int run_resolve(clrsym *handle)
{
        const clrsym_query queries[N_QUERIES] = {
                {.pid = 100, .address = 0x1008},
                {.pid = 100, .address = 0x1008, .has_time = true, .time = 20},
                {.pid = 101, .address = 0x2000, .has_pid_ns = true, .pid_ns = 5},
        };
        clrsym_answer answers[N_QUERIES];
        int r = clrsym_resolve(handle, queries, N_QUERIES, 0, answers), i;

        for (i = 0; i < N_QUERIES; i++) {
                FUZZ_REQUIRE(clrsym_status_name(answers[i].status));
                FUZZ_REQUIRE(clrsym_confidence_name(answers[i].confidence));
                FUZZ_REQUIRE(clrsym_il_kind_name(answers[i].il_kind));
                FUZZ_REQUIRE(r == 0 || answers[i].status == CLRSYM_INVALID);
                if (answers[i].has_body)
                        see_body(&answers[i].body);
        }
        return r;
}

static int run_processes(clrsym *handle)
{
        return clrsym_processes(handle, see_process, NULL);
}

static int run_methods(clrsym *handle)
{
        return clrsym_methods(handle, &(clrsym_filter){.all = true}, see_row, NULL);
}

static int run_history(clrsym *handle)
{
        return clrsym_history(handle, &(clrsym_filter){.pid = 100}, 0x1000, see_row, NULL);
}

static int run_versions(clrsym *handle)
{
        return clrsym_versions(handle, &(clrsym_filter){0}, "N.T.M", see_row, NULL);
}

static int run_call(clrsym *handle)
{
        return clrsym_call(handle, "ListModules", NULL, CLRSYM_MORE, 0, see_reply, NULL);
}

static int see_any_row(clrsym_row *row, void *data)
{
        clrsym_process process;
        clrsym_answer answer;
        clrsym_body body;
        const char *json;
        size_t n;
        uint32_t i;

        if (clrsym_row_process(row, &process) == 0)
                see_process(&process, NULL);
        if (clrsym_row_body(row, &process, &body) == 0)
                see_body(&body);
        if (clrsym_row_answer(row, &answer) == 0) {
                FUZZ_REQUIRE(answer.status != CLRSYM_OK || answer.has_body);
                if (answer.has_body)
                        see_body(&answer.body);
                for (i = 0; i < answer.n_inlined; i++)
                        see_text(answer.inlined[i].method);
                answer.il_kind = CLRSYM_IL_EXACT;
                FUZZ_REQUIRE(clrsym_row_set_il(row, &answer) == 0);
        }
        json = clrsym_row_json(row, &n);
        FUZZ_REQUIRE(g_utf8_validate(json, (gssize)n, NULL));
        n_seen += n;
        return 0;
}

static int run_rows(clrsym *handle)
{
        return clrsym_rows(handle, "Resolve", NULL, "answers", 0, see_any_row, NULL);
}

static int run_time(clrsym *handle)
{
        uint64_t time;

        return clrsym_time(handle, "12:00:00", &time);
}

static int run_watch(clrsym *handle)
{
        clrsym_watch *watch = NULL;
        clrsym_event event;
        unsigned n = 0;
        int r = clrsym_watch_open(handle, NULL, &watch);

        if (r < 0)
                return r;
        while (n++ < MAX_EVENTS && (r = clrsym_watch_next(watch, MAX_WATCH_MS, &event)) > 0)
                if (event.has_body)
                        see_body(&event.body);
        FUZZ_REQUIRE(r >= 0 || *clrsym_watch_message(watch));
        clrsym_watch_close(watch);
        return 0;
}

static int (*const FUNCTIONS[])(clrsym *) = {
        run_resolve, run_processes, run_methods, run_history, run_versions,
        run_call,    run_time,      run_watch,   run_rows,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        FuzzInput input = {data, size};
        unsigned function = (unsigned)fuzz_take(&input, 1) % G_N_ELEMENTS(FUNCTIONS), n;
        clrsym_options options = {.reconnect_ms = -1};
        clrsym *handle;

        if (size > FUZZ_MAX_INPUT)
                return 0;
        if (!fake.path) {
                fake.bytes = g_bytes_new(NULL, 0);
                fake_start();
        }
        fake_set(&input);
        options.socket = fake.path;
        FUZZ_REQUIRE(clrsym_open(&handle, &options, NULL) == 0);
        for (n = 0; n < 2; n++) {
                int r = FUNCTIONS[function](handle);

                FUZZ_REQUIRE(r >= 0 || strcmp(clrsym_message(handle), "nothing failed") != 0);
                see_text(clrsym_message(handle));
        }
        clrsym_close(handle);
        return 0;
}
