/* SPDX-License-Identifier: MIT */
#include "cli/trace-reader.h"

#include "cli/link.h"
#include "service/ingest-session.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glib/gstdio.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of what babeltrace2 says, the end is kept: its error chain comes last. */
#define MAX_SAID (256u << 10)

/* One reading under way. */
typedef struct Reading {
        const char *directory;
        char *socket_dir;  /* owned: 0700, NULL once removed */
        char *socket_path; /* owned: in it */
        int listen_fd;
        int feed_fd; /* the connection of babeltrace2 */
        int said_fd; /* its stderr */
        GPid pid;    /* 0: not running */
        int status;  /* of its exit */
        GString *said;
        IngestSession *session;
} Reading;

/* Those that ask the program to end while there is something to clean up. */
static const int SIGNALS[] = {SIGINT, SIGTERM, SIGHUP};

static volatile sig_atomic_t caught_signal;

static void catch_signal(int number)
{
        caught_signal = number;
}

static void close_fd(int *fd)
{
        if (*fd >= 0)
                close(*fd);
        *fd = -1;
}

static void remove_socket(Reading *reading)
{
        if (!reading->socket_dir)
                return;
        unlink(reading->socket_path);
        rmdir(reading->socket_dir);
        g_clear_pointer(&reading->socket_dir, g_free);
}

static void reading_deinit(Reading *reading)
{
        remove_socket(reading);
        close_fd(&reading->listen_fd);
        close_fd(&reading->feed_fd);
        close_fd(&reading->said_fd);
        if (reading->pid) {
                kill(reading->pid, SIGKILL);
                waitpid(reading->pid, NULL, 0);
        }
        ingest_session_free(reading->session);
        g_string_free(reading->said, TRUE);
        g_free(reading->socket_path);
}

static bool fail(const Reading *reading, GError **error, const char *what)
{
        g_set_error(error, LINK_ERROR, 0, "%s: %s", reading->directory, what);
        return false;
}

/* nftw() has no argument to hand this through. */
static bool has_unreadable;

/* The first metadata file ends the search. */
static int on_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
        if (type == FTW_DNR)
                has_unreadable = true;
        return type == FTW_F && !strcmp(path + ftw->base, "metadata");
}

static bool check_directory(const Reading *reading, GError **error)
{
        const char *directory = reading->directory;
        int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        if (fd < 0 && errno == ENOTDIR)
                return fail(reading, error,
                            "not a directory: a trace is one, with a file "
                            "\"metadata\" in it, here or below");
        if (fd < 0)
                return fail(reading, error, g_strerror(errno));
        close(fd);
        has_unreadable = false;
        switch (nftw(directory, on_file, 16, 0)) {
        case 1:
                return true;
        case 0:
                if (has_unreadable)
                        return fail(reading, error, g_strerror(EACCES));
                return fail(reading, error,
                            "no CTF trace in it: there is no file \"metadata\", "
                            "here or below");
        default:
                return fail(reading, error, g_strerror(errno));
        }
}

/* A directory that only this user can enter, with the socket in it. */
static bool make_socket(Reading *reading, GError **error)
{
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        const char *parent = g_get_tmp_dir();

        if (strlen(parent) + sizeof("/clrsym-XXXXXX/ingest") > sizeof(address.sun_path))
                parent = "/tmp";
        reading->socket_dir = g_build_filename(parent, "clrsym-XXXXXX", NULL);
        if (!g_mkdtemp(reading->socket_dir)) {
                g_set_error(error, LINK_ERROR, 0, "cannot make a directory in %s: %s", parent,
                            g_strerror(errno));
                g_clear_pointer(&reading->socket_dir, g_free);
                return false;
        }
        reading->socket_path = g_build_filename(reading->socket_dir, "ingest", NULL);
        strcpy(address.sun_path, reading->socket_path);
        reading->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (reading->listen_fd < 0 ||
            bind(reading->listen_fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
            listen(reading->listen_fd, 1) < 0) {
                g_set_error(error, LINK_ERROR, 0, "cannot listen at %s: %s", reading->socket_path,
                            g_strerror(errno));
                return false;
        }
        return true;
}

/* PATH as a string of babeltrace2's parameter syntax. */
static char *socket_parameter(const char *path)
{
        g_autoptr(GString) text = g_string_new("socket=\"");

        for (; *path; path++) {
                if (*path == '"' || *path == '\\')
                        g_string_append_c(text, '\\');
                g_string_append_c(text, *path);
        }
        g_string_append_c(text, '"');
        return g_string_free(g_steal_pointer(&text), FALSE);
}

/*
 * Where the plugin is: where it is installed, or beside this program in the build tree, so that it
 * can be tried without installing. NULL if it is in neither place.
 */
static char *plugin_path_option(void)
{
        g_autofree char *program = g_file_read_link("/proc/self/exe", NULL);
        g_autofree char *directory = program ? g_path_get_dirname(program) : NULL;
        g_autofree char *built =
                directory ? g_build_filename(directory, "..", "..", "plugins", NULL) : NULL;
        const char *const places[] = {CLRSYM_PLUGIN_DIR, built, NULL};
        size_t i;

        for (i = 0; places[i]; i++) {
                g_autofree char *file =
                        g_build_filename(places[i], "babeltrace-plugin-clrsym.so", NULL);

                if (g_file_test(file, G_FILE_TEST_EXISTS))
                        return g_strconcat("--plugin-path=", places[i], NULL);
        }
        return NULL;
}

static bool start_babeltrace(Reading *reading, GError **error)
{
        g_autoptr(GPtrArray) argv = g_ptr_array_new();
        g_autofree char *parameter = socket_parameter(reading->socket_path);
        g_autofree char *directory = g_str_has_prefix(reading->directory, "-")
                                             ? g_strconcat("./", reading->directory, NULL)
                                             : g_strdup(reading->directory);
        g_autofree char *plugin_path = plugin_path_option();
        g_autoptr(GError) spawn_error = NULL;

        g_ptr_array_add(argv, (char *)"babeltrace2");
        /* An option of babeltrace2, not of its command. $BABELTRACE_PLUGIN_PATH goes before it. */
        if (plugin_path)
                g_ptr_array_add(argv, plugin_path);
        g_ptr_array_add(argv, (char *)"convert");
        g_ptr_array_add(argv, directory);
        g_ptr_array_add(argv, (char *)"--component=sink.clrsym.feed");
        g_ptr_array_add(argv, (char *)"--params");
        g_ptr_array_add(argv, parameter);
        g_ptr_array_add(argv, NULL);
        if (g_spawn_async_with_pipes(
                    NULL, (char **)argv->pdata, NULL,
                    G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_STDOUT_TO_DEV_NULL,
                    NULL, NULL, &reading->pid, NULL, NULL, &reading->said_fd, &spawn_error))
                return true;
        if (g_error_matches(spawn_error, G_SPAWN_ERROR, G_SPAWN_ERROR_NOENT))
                g_set_error(error, LINK_ERROR, 0,
                            "no babeltrace2, which reads traces: apt install babeltrace2");
        else
                g_set_error(error, LINK_ERROR, 0, "cannot start babeltrace2: %s",
                            spawn_error->message);
        return false;
}

static void take_connection(Reading *reading)
{
        reading->feed_fd = accept4(reading->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (reading->feed_fd < 0)
                return;
        close_fd(&reading->listen_fd);
        remove_socket(reading);
}

static void take_feed(Reading *reading)
{
        GByteArray *output = ingest_session_output(reading->session);
        uint8_t bytes[65536];
        ssize_t n = recv(reading->feed_fd, bytes, sizeof(bytes), 0);

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                n = 0;
        else if (n <= 0)
                return close_fd(&reading->feed_fd);
        ingest_session_feed(reading->session, bytes, (size_t)n);
        if (output->len == 0)
                return;
        n = send(reading->feed_fd, output->data, output->len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0)
                g_byte_array_remove_range(output, 0, (guint)n);
        /* With nothing left to send, the answer to a broken protocol is a hang-up. */
        if (ingest_session_error(reading->session) && output->len == 0)
                close_fd(&reading->feed_fd);
}

static void take_words(Reading *reading)
{
        char bytes[4096];
        ssize_t n = read(reading->said_fd, bytes, sizeof(bytes));

        if (n < 0 && errno == EINTR)
                return;
        if (n <= 0)
                return close_fd(&reading->said_fd);
        g_string_append_len(reading->said, bytes, n);
        if (reading->said->len > MAX_SAID)
                g_string_erase(reading->said, 0, (gssize)(reading->said->len - MAX_SAID / 2));
}

/* Until babeltrace2 has closed all that ties it to us, or a signal came. */
static void run(Reading *reading, const sigset_t *unblocked)
{
        while (!caught_signal && (reading->said_fd >= 0 || reading->feed_fd >= 0)) {
                bool is_sending = ingest_session_output(reading->session)->len > 0;
                struct pollfd poll_fds[] = {
                        {.fd = reading->listen_fd, .events = POLLIN},
                        {.fd = reading->feed_fd, .events = POLLIN | (is_sending ? POLLOUT : 0)},
                        {.fd = reading->said_fd, .events = POLLIN},
                };

                if (ppoll(poll_fds, G_N_ELEMENTS(poll_fds), NULL, unblocked) < 0)
                        continue;
                if (poll_fds[0].revents)
                        take_connection(reading);
                if (poll_fds[1].revents)
                        take_feed(reading);
                if (poll_fds[2].revents)
                        take_words(reading);
        }
        if (!caught_signal) {
                waitpid(reading->pid, &reading->status, 0);
                reading->pid = 0;
        }
}

/*
 * babeltrace2 tells the causes of an error from the outside in, each under a heading of its own and
 * broken into lines: the last one is what happened, in one line.
 */
static char *last_cause(const char *said)
{
        g_auto(GStrv) lines = g_strsplit(said, "\n", -1);
        g_autoptr(GString) cause = g_string_new(NULL);
        bool is_inside = false;
        size_t i;

        for (i = 0; lines[i]; i++) {
                if (g_str_has_prefix(lines[i], "ERROR: ") ||
                    g_str_has_prefix(lines[i], "CAUSED BY ")) {
                        g_string_truncate(cause, 0);
                        is_inside = true;
                } else if (is_inside && lines[i][0] == ' ') {
                        if (cause->len)
                                g_string_append_c(cause, ' ');
                        g_string_append(cause, g_strstrip(lines[i]));
                } else {
                        is_inside = false;
                }
        }
        return g_string_free(g_steal_pointer(&cause), FALSE);
}

static bool check_outcome(const Reading *reading, GError **error)
{
        g_autofree char *cause = last_cause(reading->said->str);
        const char *protocol_error = ingest_session_error(reading->session);

        if (strstr(cause, "Cannot find component class"))
                return fail(reading, error,
                            "babeltrace2 does not find clrsym's plugin: install it to "
                            "" CLRSYM_PLUGIN_DIR ", or set BABELTRACE_PLUGIN_PATH");
        if (protocol_error)
                return fail(reading, error, protocol_error);
        if (WIFSIGNALED(reading->status)) {
                g_autofree char *text = g_strdup_printf("babeltrace2 died of signal %d (%s)",
                                                        WTERMSIG(reading->status),
                                                        strsignal(WTERMSIG(reading->status)));

                return fail(reading, error, text);
        }
        if (WEXITSTATUS(reading->status) != 0)
                return fail(reading, error,
                            *cause ? cause : "babeltrace2 failed, and did not say why");
        if (ingest_session_report(reading->session)->dotnet_events == 0)
                return fail(reading, error,
                            "not one event of the .NET runtime in this trace: `clrsym doctor` "
                            "finds out why");
        return true;
}

static bool read_all(Reading *reading, const sigset_t *unblocked, GError **error)
{
        if (!check_directory(reading, error) || !make_socket(reading, error) ||
            !start_babeltrace(reading, error))
                return false;
        run(reading, unblocked);
        return !caught_signal && check_outcome(reading, error);
}

Tracker *trace_read(const char *directory, GError **error)
{
        Tracker *tracker = tracker_new();
        Reading reading = {
                .directory = directory,
                .listen_fd = -1,
                .feed_fd = -1,
                .said_fd = -1,
                .said = g_string_new(NULL),
                .session = ingest_session_new(tracker, false),
        };
        struct sigaction action = {.sa_handler = catch_signal}, before[G_N_ELEMENTS(SIGNALS)];
        sigset_t blocked, unblocked;
        bool is_read;
        size_t i;

        /* They come through in ppoll() only, so that none is missed. */
        sigemptyset(&blocked);
        for (i = 0; i < G_N_ELEMENTS(SIGNALS); i++) {
                sigaction(SIGNALS[i], NULL, &before[i]);
                if (before[i].sa_handler == SIG_IGN)
                        continue;
                sigaddset(&blocked, SIGNALS[i]);
                sigaction(SIGNALS[i], &action, NULL);
        }
        sigprocmask(SIG_BLOCK, &blocked, &unblocked);
        is_read = read_all(&reading, &unblocked, error);
        reading_deinit(&reading);
        for (i = 0; i < G_N_ELEMENTS(SIGNALS); i++)
                sigaction(SIGNALS[i], &before[i], NULL);
        sigprocmask(SIG_SETMASK, &unblocked, NULL);
        if (caught_signal)
                raise(caught_signal);
        if (!is_read)
                g_clear_pointer(&tracker, tracker_free);
        return tracker;
}
