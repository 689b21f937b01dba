/* SPDX-License-Identifier: MIT */

/*
 * An EventPipe session, its rundown and its end, with a runtime that sends any bytes
 *
 * The runtime is a thread that listens as a .NET runtime does. Each connection gets the next part
 * of the input and is closed: two bytes of length, and the bytes.
 */

#include "attach/eventpipe-session.h"
#include "fuzz.h"
#include "util/fd.h"
#include "util/unix-socket.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <pthread.h>
#include <sys/socket.h>

/* Limit for any input, because every connection ends by itself. */
#define LIMIT (5 * G_TIME_SPAN_SECOND)

typedef struct Script {
        int listener;
        FuzzInput input;
} Script;

static char *directory, *path;

static void clean_up(void)
{
        g_unlink(path);
        g_rmdir(directory);
}

static void set_up(void)
{
        directory = g_dir_make_tmp("clrsym-fuzz-XXXXXX", NULL);
        path = g_strdup_printf("%s/dotnet-diagnostic-%d-1-socket", directory, (int)getpid());
        atexit(clean_up);
}

static void serve(Script *script, int fd)
{
        const FuzzInput part = fuzz_take_part(&script->input, fuzz_take(&script->input, 2));
        uint8_t request[4096];

        /* A runtime reads the request before it replies. */
        (void)!recv(fd, request, sizeof(request), 0);
        (void)!send(fd, part.at, part.n, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void *run(void *data)
{
        Script *script = data;

        for (;;) {
                int fd = accept4(script->listener, NULL, NULL, SOCK_CLOEXEC);

                if (fd < 0 && errno == EINTR)
                        continue;
                if (fd < 0)
                        return NULL;
                serve(script, fd);
                close(fd);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        const EventPipeWait wait = {.interrupt_fd = -1, .limit = LIMIT};
        Script script = {.input = {data, size}};
        /* A target that has ended, so that the session does not wait after a disconnect. */
        FD_AUTO int ended = open("/dev/null", O_RDONLY | O_CLOEXEC);
        const gint64 begin = g_get_monotonic_time();
        EventPipeSession session;
        EventPipeRundown rundown;
        pthread_t thread;
        char *version;
        Target target;

        if (!directory)
                set_up();
        target = (Target){.info = {.host_pid = getpid(),
                                   .levels = {{.pid = (int32_t)getpid()}},
                                   .n_levels = 1},
                          .pidfd = ended,
                          .directory = directory,
                          .has_coreclr = true};
        script.listener = unix_listen(path, 0600);
        FUZZ_REQUIRE(script.listener >= 0 && fcntl(script.listener, F_SETFL, 0) == 0);
        FUZZ_REQUIRE(pthread_create(&thread, NULL, run, &script) == 0);
        version = eventpipe_runtime_version(&target, NULL);
        g_free(version);
        if (eventpipe_session_open(&target, &session, NULL)) {
                (void)eventpipe_session_drain(&session);
                (void)eventpipe_rundown(&target, &wait, &rundown, NULL);
                (void)eventpipe_session_stop(&target, &session, NULL);
        }
        shutdown(script.listener, SHUT_RDWR);
        pthread_join(thread, NULL);
        close(script.listener);
        g_unlink(path);
        FUZZ_REQUIRE(g_get_monotonic_time() - begin < 2 * LIMIT);
        return 0;
}
