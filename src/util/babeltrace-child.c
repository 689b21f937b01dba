/* SPDX-License-Identifier: MIT */
#include "util/babeltrace-child.h"

#include "util/babeltrace.h"
#include "util/listener.h"

#include <errno.h>
#include <glib.h>
#include <glib-unix.h>
#include <signal.h>
#include <string.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* The end of its stderr is kept: its error chain comes last. */
#define MAX_STDERR (64u << 10)
/* The listener binds a longer name first: a dot and a pid. */
#define MAX_SOCKET_PATH (sizeof(((struct sockaddr_un *)NULL)->sun_path) - sizeof(".4194304"))

struct BabeltraceChild {
        char *directory; /* owned: made here; NULL: owned by the caller, or removed */
        char *socket;    /* owned */
        Listener *listener;
        int error_fd; /* its stderr */
        guint error_source;
        GString *error_tail; /* owned: the end of its stderr */
        GPid pid;            /* 0: not running */
        guint exit_source;
        const BabeltraceChildCalls *calls;
        void *data;
};

static void child_remove_socket(BabeltraceChild *child)
{
        g_clear_pointer(&child->listener, listener_free);
        if (child->directory)
                rmdir(child->directory);
        g_clear_pointer(&child->directory, g_free);
}

void babeltrace_child_free(BabeltraceChild *child)
{
        if (!child)
                return;
        child_remove_socket(child);
        g_clear_handle_id(&child->error_source, g_source_remove);
        g_clear_handle_id(&child->exit_source, g_source_remove);
        if (child->pid) {
                kill(child->pid, SIGKILL);
                waitpid(child->pid, NULL, 0);
        }
        if (child->error_fd >= 0)
                close(child->error_fd);
        g_string_free(child->error_tail, TRUE);
        g_free(child->socket);
        g_free(child);
}

void babeltrace_child_stop(const BabeltraceChild *child)
{
        if (child->pid)
                kill(child->pid, SIGINT);
}

void babeltrace_child_kill(const BabeltraceChild *child)
{
        if (child->pid)
                kill(child->pid, SIGKILL);
}

pid_t babeltrace_child_pid(const BabeltraceChild *child)
{
        return child->pid;
}

static void child_on_connection(void *data, int fd)
{
        BabeltraceChild *child = data;

        child_remove_socket(child);
        child->calls->connected(child->data, fd);
}

/* False: there is nothing more to read now. */
static bool child_read_stderr(BabeltraceChild *child)
{
        char bytes[4096];
        ssize_t n = read(child->error_fd, bytes, sizeof(bytes));

        if (n < 0 && errno == EINTR)
                return true;
        if (n <= 0)
                return false;
        g_string_append_len(child->error_tail, bytes, n);
        if (child->error_tail->len > MAX_STDERR)
                g_string_erase(child->error_tail, 0,
                               (gssize)(child->error_tail->len - MAX_STDERR / 2));
        return true;
}

static gboolean child_on_stderr(gint fd, GIOCondition condition, gpointer data)
{
        BabeltraceChild *child = data;

        if (child_read_stderr(child) || errno == EAGAIN)
                return G_SOURCE_CONTINUE;
        child->error_source = 0;
        return G_SOURCE_REMOVE;
}

static void child_on_exit(GPid pid, gint status, gpointer data)
{
        BabeltraceChild *child = data;
        g_autofree char *reason = NULL;

        child->exit_source = 0;
        child->pid = 0;
        child_remove_socket(child);
        while (child_read_stderr(child))
                ;
        reason = babeltrace_reason(child->error_tail->str, status);
        child->calls->ended(child->data, reason);
}

/* Makes a directory that only this user can enter. False with ERROR set. */
static bool child_make_directory(BabeltraceChild *child, const char *name, GError **error)
{
        const char *parent = g_get_tmp_dir();

        if (strlen(parent) + strlen("/clrsym-XXXXXX/") + strlen(name) > MAX_SOCKET_PATH)
                parent = "/tmp";
        child->directory = g_build_filename(parent, "clrsym-XXXXXX", NULL);
        if (g_mkdtemp(child->directory))
                return true;
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "cannot make a directory in %s: %s",
                    parent, g_strerror(errno));
        g_clear_pointer(&child->directory, g_free);
        return false;
}

static bool child_listen(BabeltraceChild *child, const BabeltraceChildSettings *settings,
                         GError **error)
{
        if (!settings->directory && !child_make_directory(child, settings->name, error))
                return false;
        child->socket = g_build_filename(
                settings->directory ? settings->directory : child->directory, settings->name, NULL);
        if (strlen(child->socket) > MAX_SOCKET_PATH) {
                g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED,
                            "%s is too long for a socket: set TMPDIR", child->socket);
                return false;
        }
        child->listener =
                listener_new(child->socket, 0600, NULL, -1, child_on_connection, child, error);
        return child->listener != NULL;
}

/* The sink's parameters, in babeltrace2's syntax. */
static char *child_parameters(const char *socket, const BabeltraceChildSettings *settings)
{
        g_autoptr(GString) text = g_string_new("socket=\"");

        for (; *socket; socket++) {
                if (*socket == '"' || *socket == '\\')
                        g_string_append_c(text, '\\');
                g_string_append_c(text, *socket);
        }
        g_string_append_c(text, '"');
        if (settings->jit_events)
                g_string_append(text, ",jit=yes");
        return g_string_free(g_steal_pointer(&text), FALSE);
}

static GPtrArray *child_command(const BabeltraceChild *child,
                                const BabeltraceChildSettings *settings)
{
        GPtrArray *argv = babeltrace_command(settings->source);

        g_ptr_array_add(argv, g_strdup("--component=sink.clrsym.feed"));
        g_ptr_array_add(argv, g_strdup("--params"));
        g_ptr_array_add(argv, child_parameters(child->socket, settings));
        g_ptr_array_add(argv, NULL);
        return argv;
}

/*
 * In the child. babeltrace2 is stopped with SIGINT, which is ignored in what a shell starts in the
 * background.
 */
static void child_set_up(gpointer data)
{
        signal(SIGINT, SIG_DFL);
        babeltrace_set_up_child(data);
}

static bool child_spawn(BabeltraceChild *child, const BabeltraceChildSettings *settings,
                        GError **error)
{
        g_autoptr(GPtrArray) argv = child_command(child, settings);
        g_autoptr(GError) spawn_error = NULL;

        if (!g_spawn_async_with_pipes(NULL, (char **)argv->pdata, NULL,
                                      G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD |
                                              G_SPAWN_STDOUT_TO_DEV_NULL,
                                      child_set_up, GINT_TO_POINTER(getpid()), &child->pid, NULL,
                                      NULL, &child->error_fd, &spawn_error)) {
                if (g_error_matches(spawn_error, G_SPAWN_ERROR, G_SPAWN_ERROR_NOENT))
                        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_NOENT, BABELTRACE_MISSING);
                else
                        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED,
                                    "cannot start babeltrace2: %s", spawn_error->message);
                return false;
        }
        g_unix_set_fd_nonblocking(child->error_fd, TRUE, NULL);
        child->error_source =
                g_unix_fd_add(child->error_fd, G_IO_IN | G_IO_HUP, child_on_stderr, child);
        child->exit_source = g_child_watch_add(child->pid, child_on_exit, child);
        return true;
}

BabeltraceChild *babeltrace_child_new(const BabeltraceChildSettings *settings,
                                      const BabeltraceChildCalls *calls, void *data, GError **error)
{
        BabeltraceChild *child = g_new0(BabeltraceChild, 1);

        child->error_fd = -1;
        child->error_tail = g_string_new(NULL);
        child->calls = calls;
        child->data = data;
        if (!child_listen(child, settings, error) || !child_spawn(child, settings, error)) {
                babeltrace_child_free(child);
                return NULL;
        }
        return child;
}
