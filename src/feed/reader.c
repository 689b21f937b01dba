/* SPDX-License-Identifier: MIT */
#include "feed/reader.h"

#include "babeltrace/babeltrace.h"

#include <errno.h>
#include <glib-unix.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define READER_ERROR (g_quark_from_static_string("clrsym-reader"))

/* Of what it says, the end is kept: its error chain comes last. */
#define MAX_SAID (64u << 10)
/* us. How long it sleeps when a live session has nothing new. */
#define RETRY_DURATION "10000"
/* To end in, once it has hung up. */
#define END_MS 3000

struct Reader {
        Merger *merger; /* borrowed */
        IntakeMode mode;
        const ReaderCalls *calls;
        void *data;
        char *socket; /* owned */
        int listener;
        guint listener_source;
        int words;
        guint words_source;
        GString *said;
        Intake *intake; /* owned */
        GPid pid;       /* 0: it does not run */
        guint child;
        guint end_timer;
};

static void close_listener(Reader *reader)
{
        g_clear_handle_id(&reader->listener_source, g_source_remove);
        if (reader->listener >= 0)
                close(reader->listener);
        reader->listener = -1;
        unlink(reader->socket);
}

static gboolean on_connection(gint fd, GIOCondition condition, gpointer data)
{
        Reader *reader = data;
        int connection = accept4(fd, NULL, NULL, SOCK_CLOEXEC);

        if (connection < 0)
                return G_SOURCE_CONTINUE;
        reader->listener_source = 0;
        close_listener(reader);
        reader->intake = intake_new(reader->merger, reader->mode, connection);
        return G_SOURCE_REMOVE;
}

/* False: nothing more is there now. */
static bool read_words(Reader *reader)
{
        char bytes[4096];
        ssize_t n = read(reader->words, bytes, sizeof(bytes));

        if (n <= 0)
                return false;
        g_string_append_len(reader->said, bytes, n);
        if (reader->said->len > MAX_SAID)
                g_string_erase(reader->said, 0, (gssize)(reader->said->len - MAX_SAID));
        return true;
}

static gboolean on_words(gint fd, GIOCondition condition, gpointer data)
{
        Reader *reader = data;

        if (read_words(reader))
                return G_SOURCE_CONTINUE;
        reader->words_source = 0;
        return G_SOURCE_REMOVE;
}

static void on_exit_of_child(GPid pid, gint status, gpointer data)
{
        Reader *reader = data;
        g_autofree char *why = NULL;

        reader->child = 0;
        reader->pid = 0;
        while (read_words(reader))
                ;
        why = babeltrace_reason(reader->said->str, status);
        g_clear_pointer(&reader->intake, intake_free);
        reader->calls->ended(reader->data, reader, why);
}

static bool listen_at(Reader *reader, GError **error)
{
        struct sockaddr_un address = {.sun_family = AF_UNIX};

        if (strlen(reader->socket) >= sizeof(address.sun_path)) {
                g_set_error(error, READER_ERROR, 0, "%s is too long for a socket: set TMPDIR",
                            reader->socket);
                return false;
        }
        strcpy(address.sun_path, reader->socket);
        unlink(reader->socket);
        reader->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (reader->listener < 0 ||
            bind(reader->listener, (struct sockaddr *)&address, sizeof(address)) < 0 ||
            listen(reader->listener, 1) < 0) {
                g_set_error(error, READER_ERROR, 0, "cannot listen at %s: %s", reader->socket,
                            g_strerror(errno));
                return false;
        }
        reader->listener_source = g_unix_fd_add(reader->listener, G_IO_IN, on_connection, reader);
        return true;
}

static GPtrArray *command_of(const Reader *reader, const char *source, bool jit_events)
{
        GPtrArray *argv = babeltrace_command(source);
        bool is_live = reader->mode == INTAKE_LIVE;
        guint last = argv->len - 1;

        if (is_live) {
                /* Between the command's name and the URL. */
                g_ptr_array_insert(argv, (gint)last++,
                                   g_strdup("--retry-duration=" RETRY_DURATION));
                g_ptr_array_insert(argv, (gint)last++, g_strdup("--input-format=lttng-live"));
                g_ptr_array_add(argv, g_strdup("--params"));
                /* A session that is made anew is for another reader. */
                g_ptr_array_add(argv, g_strdup("session-not-found-action=\"end\""));
        }
        g_ptr_array_add(argv, g_strdup("-c"));
        g_ptr_array_add(argv, g_strdup("sink.clrsym.feed"));
        g_ptr_array_add(argv, g_strdup("--params"));
        g_ptr_array_add(argv, g_strdup_printf("socket=\"%s\",jit=%s,quiet=%s", reader->socket,
                                              jit_events ? "yes" : "no", is_live ? "yes" : "no"));
        g_ptr_array_add(argv, NULL);
        return argv;
}

/* In the child. SIGINT is what stops it, and one that was started in the background ignores that.
 */
static void set_up_child(gpointer data)
{
        signal(SIGINT, SIG_DFL);
        babeltrace_tie_to_parent(data);
}

Reader *reader_start(Merger *merger, IntakeMode mode, const char *source, const char *directory,
                     bool jit_events, const ReaderCalls *calls, void *data, GError **error)
{
        static const char *const NAMES[] = {
                [INTAKE_LIVE] = "live", [INTAKE_DISK] = "disk", [INTAKE_PROBE] = "probe"};
        Reader *reader = g_new0(Reader, 1);
        g_autoptr(GPtrArray) argv = NULL;
        g_autoptr(GError) failed = NULL;

        reader->merger = merger;
        reader->mode = mode;
        reader->calls = calls;
        reader->data = data;
        reader->listener = reader->words = -1;
        reader->said = g_string_new(NULL);
        reader->socket = g_build_filename(directory, NAMES[mode], NULL);
        argv = command_of(reader, source, jit_events);
        if (!listen_at(reader, error) ||
            !g_spawn_async_with_pipes(NULL, (char **)argv->pdata, NULL,
                                      G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD |
                                              G_SPAWN_STDOUT_TO_DEV_NULL,
                                      set_up_child, GINT_TO_POINTER(getpid()), &reader->pid, NULL,
                                      NULL, &reader->words, &failed)) {
                if (failed)
                        g_set_error(error, READER_ERROR, 0, "%s",
                                    g_error_matches(failed, G_SPAWN_ERROR, G_SPAWN_ERROR_NOENT)
                                            ? BABELTRACE_MISSING
                                            : failed->message);
                reader_free(reader);
                return NULL;
        }
        g_unix_set_fd_nonblocking(reader->words, TRUE, NULL);
        reader->words_source = g_unix_fd_add(reader->words, G_IO_IN | G_IO_HUP, on_words, reader);
        reader->child = g_child_watch_add(reader->pid, on_exit_of_child, reader);
        return reader;
}

void reader_free(Reader *reader)
{
        if (!reader)
                return;
        close_listener(reader);
        g_clear_handle_id(&reader->words_source, g_source_remove);
        g_clear_handle_id(&reader->child, g_source_remove);
        g_clear_handle_id(&reader->end_timer, g_source_remove);
        g_clear_pointer(&reader->intake, intake_free);
        if (reader->pid) {
                kill(reader->pid, SIGKILL);
                waitpid(reader->pid, NULL, 0);
        }
        if (reader->words >= 0)
                close(reader->words);
        g_string_free(reader->said, TRUE);
        g_free(reader->socket);
        g_free(reader);
}

void reader_stop(Reader *reader)
{
        if (reader->pid)
                kill(reader->pid, SIGINT);
}

const Intake *reader_intake(const Reader *reader)
{
        return reader->intake;
}

static gboolean on_end_timeout(gpointer data)
{
        Reader *reader = data;

        reader->end_timer = 0;
        if (reader->pid)
                kill(reader->pid, SIGKILL);
        return G_SOURCE_REMOVE;
}

bool reader_drop_intake(Reader *reader, Intake *intake, bool is_broken)
{
        if (reader->intake != intake)
                return false;
        g_clear_pointer(&reader->intake, intake_free);
        if (!reader->end_timer)
                reader->end_timer = g_timeout_add(is_broken ? 0 : END_MS, on_end_timeout, reader);
        return true;
}

pid_t reader_pid(const Reader *reader)
{
        return reader->pid;
}
