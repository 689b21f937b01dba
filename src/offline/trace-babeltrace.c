/* SPDX-License-Identifier: MIT */
#include "offline/trace-babeltrace.h"

#include "util/babeltrace-child.h"

#include <errno.h>
#include <glib.h>
#include <glib-unix.h>
#include <sys/socket.h>
#include <unistd.h>

struct TraceBabeltrace {
        char *directory;        /* owned */
        BabeltraceChild *child; /* owned */
        int feed;               /* its connection; -1: none */
        guint feed_input, feed_output;
        IngestConnection *session; /* borrowed */
        const TraceBabeltraceCalls *calls;
        void *data;
};

static void feed_close(TraceBabeltrace *babeltrace)
{
        g_clear_handle_id(&babeltrace->feed_input, g_source_remove);
        g_clear_handle_id(&babeltrace->feed_output, g_source_remove);
        if (babeltrace->feed >= 0)
                close(babeltrace->feed);
        babeltrace->feed = -1;
}

void trace_babeltrace_free(TraceBabeltrace *babeltrace)
{
        if (!babeltrace)
                return;
        babeltrace_child_free(babeltrace->child);
        feed_close(babeltrace);
        g_free(babeltrace->directory);
        g_free(babeltrace);
}

pid_t trace_babeltrace_pid(const TraceBabeltrace *babeltrace)
{
        return babeltrace_child_pid(babeltrace->child);
}

/* Sends what the connection has to send. */
static void feed_send(TraceBabeltrace *babeltrace);

static gboolean feed_on_output(gint fd, GIOCondition condition, gpointer data)
{
        TraceBabeltrace *babeltrace = data;

        babeltrace->feed_output = 0;
        feed_send(babeltrace);
        return G_SOURCE_REMOVE;
}

static void feed_send(TraceBabeltrace *babeltrace)
{
        GByteArray *output = ingest_connection_output(babeltrace->session);
        ssize_t n;

        if (output->len) {
                n = send(babeltrace->feed, output->data, output->len, MSG_NOSIGNAL | MSG_DONTWAIT);
                if (n > 0)
                        g_byte_array_remove_range(output, 0, (guint)n);
        }
        if (output->len && !babeltrace->feed_output)
                babeltrace->feed_output =
                        g_unix_fd_add(babeltrace->feed, G_IO_OUT, feed_on_output, babeltrace);
        /* Nothing is left to send, and the protocol is broken: hang up. */
        if (!output->len && ingest_connection_error(babeltrace->session))
                feed_close(babeltrace);
}

/* False: there is nothing to read now, or nothing more will come. */
static bool feed_receive(TraceBabeltrace *babeltrace)
{
        uint8_t bytes[65536];
        ssize_t n = recv(babeltrace->feed, bytes, sizeof(bytes), MSG_DONTWAIT);

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return errno == EINTR;
        if (n <= 0) {
                feed_close(babeltrace);
                return false;
        }
        ingest_connection_feed(babeltrace->session, bytes, (size_t)n);
        if (!babeltrace->calls->fed(babeltrace->data, bytes, (size_t)n)) {
                feed_close(babeltrace);
                babeltrace_child_kill(babeltrace->child);
                return false;
        }
        feed_send(babeltrace);
        return babeltrace->feed >= 0;
}

static gboolean feed_on_input(gint fd, GIOCondition condition, gpointer data)
{
        TraceBabeltrace *babeltrace = data;

        feed_receive(babeltrace);
        return babeltrace->feed >= 0 ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
}

static void child_connected(void *data, int fd)
{
        TraceBabeltrace *babeltrace = data;

        babeltrace->feed = fd;
        babeltrace->feed_input = g_unix_fd_add(fd, G_IO_IN | G_IO_HUP, feed_on_input, babeltrace);
        babeltrace->calls->connected(babeltrace->data);
}

/* The last bytes that it sent are still in the socket. */
static void child_ended(void *data, const char *reason)
{
        TraceBabeltrace *babeltrace = data;
        const char *wrong;

        while (babeltrace->feed >= 0 && feed_receive(babeltrace))
                ;
        feed_close(babeltrace);
        wrong = ingest_connection_error(babeltrace->session);
        if (!wrong)
                wrong = reason;
        babeltrace->calls->ended(babeltrace->data,
                                 wrong ? g_error_new(G_FILE_ERROR, G_FILE_ERROR_FAILED, "%s: %s",
                                                     babeltrace->directory, wrong)
                                       : NULL);
}

static const BabeltraceChildCalls CHILD_CALLS = {
        .connected = child_connected,
        .ended = child_ended,
};

TraceBabeltrace *trace_babeltrace_new(const char *directory, bool jit_events,
                                      IngestConnection *session, const TraceBabeltraceCalls *calls,
                                      void *data, GError **error)
{
        TraceBabeltrace *babeltrace = g_new0(TraceBabeltrace, 1);
        const BabeltraceChildSettings settings = {
                .source = directory, .name = "ingest", .jit_events = jit_events};

        babeltrace->directory = g_strdup(directory);
        babeltrace->feed = -1;
        babeltrace->session = session;
        babeltrace->calls = calls;
        babeltrace->data = data;
        babeltrace->child = babeltrace_child_new(&settings, &CHILD_CALLS, babeltrace, error);
        if (!babeltrace->child) {
                trace_babeltrace_free(babeltrace);
                return NULL;
        }
        return babeltrace;
}
