/* SPDX-License-Identifier: MIT */
#include "daemon/trace-babeltrace.h"

#include "babeltrace/babeltrace.h"

#include <errno.h>
#include <gio/gio.h>
#include <glib-unix.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of what babeltrace2 says, the end is kept: its error chain comes last. */
#define MAX_SAID (256u << 10)

/* A descriptor and what watches it. */
typedef struct Watched {
        int fd; /* -1: closed */
        guint source;
} Watched;

struct TraceBabeltrace {
        char *directory;   /* owned */
        char *socket_dir;  /* owned: 0700, NULL once removed */
        char *socket_path; /* owned: in it */
        Watched listener;
        Watched feed; /* its connection */
        guint feed_output;
        Watched words; /* its stderr */
        GPid pid;      /* 0: not running */
        guint child;
        GString *said;
        IngestSession *session;
        const TraceBabeltraceCalls *calls;
        void *data;
};

static void unwatch(Watched *watched)
{
        g_clear_handle_id(&watched->source, g_source_remove);
        if (watched->fd >= 0)
                close(watched->fd);
        watched->fd = -1;
}

static void close_feed(TraceBabeltrace *babeltrace)
{
        g_clear_handle_id(&babeltrace->feed_output, g_source_remove);
        unwatch(&babeltrace->feed);
}

static void remove_socket(TraceBabeltrace *babeltrace)
{
        unwatch(&babeltrace->listener);
        if (!babeltrace->socket_dir)
                return;
        unlink(babeltrace->socket_path);
        rmdir(babeltrace->socket_dir);
        g_clear_pointer(&babeltrace->socket_dir, g_free);
}

void trace_babeltrace_free(TraceBabeltrace *babeltrace)
{
        if (!babeltrace)
                return;
        remove_socket(babeltrace);
        close_feed(babeltrace);
        unwatch(&babeltrace->words);
        g_clear_handle_id(&babeltrace->child, g_source_remove);
        if (babeltrace->pid) {
                kill(babeltrace->pid, SIGKILL);
                waitpid(babeltrace->pid, NULL, 0);
        }
        g_string_free(babeltrace->said, TRUE);
        g_free(babeltrace->socket_path);
        g_free(babeltrace->directory);
        g_free(babeltrace);
}

pid_t trace_babeltrace_pid(const TraceBabeltrace *babeltrace)
{
        return babeltrace->pid;
}

/* Sends what the session has to say. */
static void send_output(TraceBabeltrace *babeltrace);

static gboolean on_feed_output(gint fd, GIOCondition condition, gpointer data)
{
        TraceBabeltrace *babeltrace = data;

        babeltrace->feed_output = 0;
        send_output(babeltrace);
        return G_SOURCE_REMOVE;
}

static void send_output(TraceBabeltrace *babeltrace)
{
        GByteArray *output = ingest_session_output(babeltrace->session);
        ssize_t n;

        if (output->len) {
                n = send(babeltrace->feed.fd, output->data, output->len,
                         MSG_NOSIGNAL | MSG_DONTWAIT);
                if (n > 0)
                        g_byte_array_remove_range(output, 0, (guint)n);
        }
        if (output->len && !babeltrace->feed_output)
                babeltrace->feed_output =
                        g_unix_fd_add(babeltrace->feed.fd, G_IO_OUT, on_feed_output, babeltrace);
        /* With nothing left to send, the answer to a broken protocol is a hang-up. */
        if (!output->len && ingest_session_error(babeltrace->session))
                close_feed(babeltrace);
}

/* False if there is nothing to take now, or never will be. */
static bool take_feed(TraceBabeltrace *babeltrace)
{
        uint8_t bytes[65536];
        ssize_t n = recv(babeltrace->feed.fd, bytes, sizeof(bytes), MSG_DONTWAIT);

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return errno == EINTR;
        if (n <= 0) {
                close_feed(babeltrace);
                return false;
        }
        ingest_session_feed(babeltrace->session, bytes, (size_t)n);
        if (!babeltrace->calls->fed(babeltrace->data, bytes, (size_t)n)) {
                close_feed(babeltrace);
                if (babeltrace->pid)
                        kill(babeltrace->pid, SIGKILL);
                return false;
        }
        send_output(babeltrace);
        return babeltrace->feed.fd >= 0;
}

static gboolean on_feed(gint fd, GIOCondition condition, gpointer data)
{
        TraceBabeltrace *babeltrace = data;

        take_feed(babeltrace);
        return babeltrace->feed.fd >= 0 ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
}

static bool take_words(TraceBabeltrace *babeltrace)
{
        char bytes[4096];
        ssize_t n = read(babeltrace->words.fd, bytes, sizeof(bytes));

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return errno == EINTR;
        if (n <= 0) {
                unwatch(&babeltrace->words);
                return false;
        }
        g_string_append_len(babeltrace->said, bytes, n);
        if (babeltrace->said->len > MAX_SAID)
                g_string_erase(babeltrace->said, 0, (gssize)(babeltrace->said->len - MAX_SAID / 2));
        return true;
}

static gboolean on_words(gint fd, GIOCondition condition, gpointer data)
{
        TraceBabeltrace *babeltrace = data;

        take_words(babeltrace);
        return babeltrace->words.fd >= 0 ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
}

static gboolean on_connection(gint fd, GIOCondition condition, gpointer data)
{
        TraceBabeltrace *babeltrace = data;

        babeltrace->feed.fd = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (babeltrace->feed.fd < 0)
                return G_SOURCE_CONTINUE;
        remove_socket(babeltrace);
        babeltrace->feed.source =
                g_unix_fd_add(babeltrace->feed.fd, G_IO_IN | G_IO_HUP, on_feed, babeltrace);
        babeltrace->calls->connected(babeltrace->data);
        return G_SOURCE_REMOVE;
}

static GError *outcome(const TraceBabeltrace *babeltrace, int status)
{
        g_autofree char *reason = babeltrace_reason(babeltrace->said->str, status);
        const char *wrong = ingest_session_error(babeltrace->session);

        if (!wrong)
                wrong = reason;
        return wrong ? g_error_new(G_IO_ERROR, G_IO_ERROR_FAILED, "%s: %s", babeltrace->directory,
                                   wrong)
                     : NULL;
}

/* What it said before is still in the sockets. */
static void on_exit_of_child(GPid pid, gint status, gpointer data)
{
        TraceBabeltrace *babeltrace = data;

        babeltrace->child = 0;
        babeltrace->pid = 0;
        remove_socket(babeltrace);
        while (babeltrace->feed.fd >= 0 && take_feed(babeltrace))
                ;
        while (babeltrace->words.fd >= 0 && take_words(babeltrace))
                ;
        close_feed(babeltrace);
        unwatch(&babeltrace->words);
        babeltrace->calls->ended(babeltrace->data, outcome(babeltrace, status));
}

/* A directory that only this user can enter, with the socket in it. */
static bool make_socket(TraceBabeltrace *babeltrace, GError **error)
{
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        const char *parent = g_get_tmp_dir();
        int fd;

        if (strlen(parent) + sizeof("/clrsym-XXXXXX/ingest") > sizeof(address.sun_path))
                parent = "/tmp";
        babeltrace->socket_dir = g_build_filename(parent, "clrsym-XXXXXX", NULL);
        if (!g_mkdtemp(babeltrace->socket_dir)) {
                g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED,
                            "cannot make a directory in %s: %s", parent, g_strerror(errno));
                g_clear_pointer(&babeltrace->socket_dir, g_free);
                return false;
        }
        babeltrace->socket_path = g_build_filename(babeltrace->socket_dir, "ingest", NULL);
        strcpy(address.sun_path, babeltrace->socket_path);
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        babeltrace->listener.fd = fd;
        if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
            listen(fd, 1) < 0) {
                g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED, "cannot listen at %s: %s",
                            babeltrace->socket_path, g_strerror(errno));
                return false;
        }
        babeltrace->listener.source = g_unix_fd_add(fd, G_IO_IN, on_connection, babeltrace);
        return true;
}

/* The parameters of the sink, in babeltrace2's syntax. */
static char *parameters(const char *socket_path, bool jit_events)
{
        g_autoptr(GString) text = g_string_new("socket=\"");

        for (; *socket_path; socket_path++) {
                if (*socket_path == '"' || *socket_path == '\\')
                        g_string_append_c(text, '\\');
                g_string_append_c(text, *socket_path);
        }
        g_string_append(text, jit_events ? "\",jit=yes" : "\"");
        return g_string_free(g_steal_pointer(&text), FALSE);
}

static bool start(TraceBabeltrace *babeltrace, bool jit_events, GError **error)
{
        g_autoptr(GPtrArray) argv = babeltrace_command(babeltrace->directory);
        g_autoptr(GError) spawn_error = NULL;

        g_ptr_array_add(argv, g_strdup("--component=sink.clrsym.feed"));
        g_ptr_array_add(argv, g_strdup("--params"));
        g_ptr_array_add(argv, parameters(babeltrace->socket_path, jit_events));
        g_ptr_array_add(argv, NULL);
        if (!g_spawn_async_with_pipes(
                    NULL, (char **)argv->pdata, NULL,
                    G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_STDOUT_TO_DEV_NULL,
                    babeltrace_tie_to_parent, GINT_TO_POINTER(getpid()), &babeltrace->pid, NULL,
                    NULL, &babeltrace->words.fd, &spawn_error)) {
                if (g_error_matches(spawn_error, G_SPAWN_ERROR, G_SPAWN_ERROR_NOENT))
                        g_set_error(error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, BABELTRACE_MISSING);
                else
                        g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED,
                                    "cannot start babeltrace2: %s", spawn_error->message);
                return false;
        }
        g_unix_set_fd_nonblocking(babeltrace->words.fd, TRUE, NULL);
        babeltrace->words.source =
                g_unix_fd_add(babeltrace->words.fd, G_IO_IN | G_IO_HUP, on_words, babeltrace);
        babeltrace->child = g_child_watch_add(babeltrace->pid, on_exit_of_child, babeltrace);
        return true;
}

TraceBabeltrace *trace_babeltrace_new(const char *directory, bool jit_events,
                                      IngestSession *session, const TraceBabeltraceCalls *calls,
                                      void *data, GError **error)
{
        TraceBabeltrace *babeltrace = g_new0(TraceBabeltrace, 1);

        babeltrace->directory = g_strdup(directory);
        babeltrace->listener.fd = babeltrace->feed.fd = babeltrace->words.fd = -1;
        babeltrace->said = g_string_new(NULL);
        babeltrace->session = session;
        babeltrace->calls = calls;
        babeltrace->data = data;
        if (!make_socket(babeltrace, error) || !start(babeltrace, jit_events, error)) {
                trace_babeltrace_free(babeltrace);
                return NULL;
        }
        return babeltrace;
}
