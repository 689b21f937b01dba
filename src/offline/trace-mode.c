/* SPDX-License-Identifier: MIT */
#include "offline/trace-mode.h"

#include "offline/trace-client.h"
#include "offline/trace-reader.h"
#include "util/libc-extras.h"
#include "util/peer.h"

#include <fcntl.h>
#include <glib-unix.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Connections of one client: libclrsym has one for calls, and one for batches. */
#define MAX_FDS 8

static char *arg_trace;
static char *arg_save;
static gboolean arg_jit_events;
static int arg_fds[MAX_FDS];
static size_t n_fds;

static gboolean add_fd(const char *option, const char *value, gpointer data, GError **error)
{
        guint64 fd;

        if (!g_ascii_string_to_unsigned(value, 10, 0, INT_MAX, &fd, error))
                return FALSE;
        if (n_fds == MAX_FDS) {
                g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                            "--fd is given at most %d times", MAX_FDS);
                return FALSE;
        }
        arg_fds[n_fds++] = (int)fd;
        return TRUE;
}

static const GOptionEntry OPTIONS[] = {
        {"trace", 0, 0, G_OPTION_ARG_FILENAME, &arg_trace,
         "Read the traces in this directory, or this snapshot", "PATH"},
        {"fd", 0, 0, G_OPTION_ARG_CALLBACK, add_fd,
         "An inherited socket that is connected to the client; once more for each further "
         "connection",
         "N"},
        {"save", 0, 0, G_OPTION_ARG_FILENAME, &arg_save, "Save a snapshot of what was read",
         "FILE"},
        {"jit-events", 0, 0, G_OPTION_ARG_NONE, &arg_jit_events,
         "Read the events about the JIT's work too", NULL},
        {0},
};

/* Signals that end the program, which may have files to remove. */
static const int SIGNALS[] = {SIGINT, SIGTERM, SIGHUP};

typedef struct TraceMode {
        GMainLoop *loop;
        Tracker *tracker;
        QueryContext context;
        TraceReader *reader; /* NULL: not begun, or ended */
        /* Connections of the client. The first one reads the trace; the server ends with it. NULL:
         * gone. */
        Peer *peers[MAX_FDS];
        TraceClient *clients[MAX_FDS];
        int owner;  /* pidfd of the process that made the socket, or -1 */
        int signal; /* the received signal, or 0 */
        bool is_unreadable;
} TraceMode;

bool trace_mode_is_wanted(int argc, char **argv)
{
        int i;

        for (i = 1; i < argc && strcmp(argv[i], "--"); i++)
                if (!strcmp(argv[i], "--trace") || g_str_has_prefix(argv[i], "--trace="))
                        return true;
        return false;
}

static void trace_mode_refuse(TraceMode *mode, GError *error)
{
        mode->is_unreadable = true;
        trace_client_fail(mode->clients[0], error->message);
        g_error_free(error);
}

static void on_gone(Peer *peer, void *data)
{
        g_main_loop_quit(((TraceMode *)data)->loop);
}

static void trace_mode_remove(TraceMode *mode, size_t i)
{
        g_clear_pointer(&mode->peers[i], peer_free);
        g_clear_pointer(&mode->clients[i], trace_client_free);
}

/* A further connection ended: the client may use the others. */
static void on_other_gone(Peer *peer, void *data)
{
        TraceMode *mode = data;
        size_t i;

        for (i = 1; i < n_fds; i++)
                if (mode->peers[i] == peer)
                        trace_mode_remove(mode, i);
}

static const PeerRole FIRST_ROLE = {.name = "trace", .gone = on_gone};
static const PeerRole OTHER_ROLE = {.name = "trace", .gone = on_other_gone};

static void trace_mode_connect(TraceMode *mode, size_t i)
{
        mode->peers[i] = peer_new(arg_fds[i], i ? &OTHER_ROLE : &FIRST_ROLE,
                                  trace_client_conversation(mode->clients[i]), mode);
}

static void begin_answers(TraceMode *mode)
{
        uint64_t read, total;
        size_t i;

        trace_reader_progress(mode->reader, &read, &total);
        trace_client_ready(mode->clients[0], total, trace_reader_note(mode->reader));
        for (i = 1; i < n_fds; i++) {
                mode->clients[i] = trace_client_new(&mode->context, NULL, NULL);
                trace_client_answer(mode->clients[i]);
                trace_mode_connect(mode, i);
        }
}

static void on_read(void *data, GError *error)
{
        TraceMode *mode = data;

        if (error)
                trace_mode_refuse(mode, error);
        else
                begin_answers(mode);
        g_clear_pointer(&mode->reader, trace_reader_free);
        peer_run(mode->peers[0]);
}

static void client_read(void *data)
{
        TraceMode *mode = data;
        TraceReaderOptions options = {arg_trace, arg_save, arg_jit_events};
        GError *error = NULL;

        mode->reader = trace_reader_new(&options, mode->tracker, on_read, mode, &error);
        if (!mode->reader)
                trace_mode_refuse(mode, error);
}

static void client_progress(void *data, uint64_t *ret_read, uint64_t *ret_total)
{
        trace_reader_progress(((TraceMode *)data)->reader, ret_read, ret_total);
}

static const TraceClientCalls CALLS = {
        .read = client_read,
        .progress = client_progress,
};

static gboolean on_owner_died(gint fd, GIOCondition condition, gpointer data)
{
        g_main_loop_quit(((TraceMode *)data)->loop);
        return G_SOURCE_CONTINUE;
}

/*
 * Our end of the socket hangs up when the last copy of the other end is closed, but a child of the
 * client can have inherited one. The socket has the credentials of the process that made it, which
 * is the client, whether it is our parent or not.
 */
static int open_owner(int fd)
{
        struct ucred credentials;
        socklen_t n = sizeof(credentials);

        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &n) < 0 || credentials.pid <= 0)
                return -1;
        return pidfd_open(credentials.pid, 0);
}

static gboolean trace_mode_on_signal(TraceMode *mode, int number)
{
        mode->signal = number;
        g_main_loop_quit(mode->loop);
        return G_SOURCE_CONTINUE;
}

static gboolean on_interrupt(gpointer mode)
{
        return trace_mode_on_signal(mode, SIGINT);
}

static gboolean on_termination(gpointer mode)
{
        return trace_mode_on_signal(mode, SIGTERM);
}

static gboolean on_hangup(gpointer mode)
{
        return trace_mode_on_signal(mode, SIGHUP);
}

static void watch_signals(TraceMode *mode)
{
        static const GSourceFunc HANDLERS[] = {on_interrupt, on_termination, on_hangup};
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(SIGNALS); i++) {
                struct sigaction action;

                /* A signal that nohup(1) ignores stays ignored. */
                if (sigaction(SIGNALS[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
                        g_unix_signal_add(SIGNALS[i], HANDLERS[i], mode);
        }
        signal(SIGXFSZ, SIG_IGN); /* a snapshot over the limit is an error like a full disk */
}

/* True if FD is a connected stream socket. */
static bool is_client(int fd)
{
        struct sockaddr_storage address;
        socklen_t n_type = sizeof(int), n_address = sizeof(address);
        int type;

        return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n_type) == 0 && type == SOCK_STREAM &&
               getpeername(fd, (struct sockaddr *)&address, &n_address) == 0;
}

static bool are_clients(void)
{
        size_t i;

        for (i = 0; i < n_fds; i++)
                if (!is_client(arg_fds[i]))
                        return false;
        return n_fds > 0;
}

static bool parse_options(int argc, char **argv)
{
        g_autoptr(GOptionContext) options = g_option_context_new(NULL);
        g_autoptr(GError) error = NULL;
        const char *wrong = NULL;

        g_option_context_set_summary(options, "Reads a trace, and answers one client about it.");
        g_option_context_add_main_entries(options, OPTIONS, NULL);
        if (!g_option_context_parse(options, &argc, &argv, &error))
                wrong = error->message;
        else if (argc > 1)
                wrong = "takes no arguments";
        else if (!are_clients())
                wrong = "--trace needs --fd, the number of a connected socket";
        if (wrong)
                fprintf(stderr, "clrsymd: %s (see clrsymd --trace PATH --help)\n", wrong);
        return !wrong;
}

static void trace_mode_serve(TraceMode *mode)
{
        size_t i;

        for (i = 0; i < n_fds; i++) {
                fcntl(arg_fds[i], F_SETFD, FD_CLOEXEC);
                g_unix_set_fd_nonblocking(arg_fds[i], TRUE, NULL);
        }
        mode->context = (QueryContext){
                .tracker = mode->tracker,
                .is_final = true,
                .viewer = {.sees_all = true},
        };
        mode->clients[0] = trace_client_new(&mode->context, &CALLS, mode);
        trace_mode_connect(mode, 0);
        if (mode->owner >= 0)
                g_unix_fd_add(mode->owner, G_IO_IN, on_owner_died, mode);
        watch_signals(mode);
        g_main_loop_run(mode->loop);
        trace_reader_free(mode->reader);
        for (i = 0; i < n_fds; i++)
                trace_mode_remove(mode, i);
}

int trace_mode_main(int argc, char **argv)
{
        /* The tracker is not freed, because that takes a while, and the process ends. */
        static TraceMode mode;

        if (!parse_options(argc, argv))
                return 2;
        mode.loop = g_main_loop_new(NULL, FALSE);
        mode.tracker = tracker_new();
        mode.owner = open_owner(arg_fds[0]);
        trace_mode_serve(&mode);
        if (mode.owner >= 0)
                close(mode.owner);
        g_main_loop_unref(mode.loop);
        g_free(arg_trace);
        g_free(arg_save);
        if (mode.signal) {
                signal(mode.signal, SIG_DFL);
                raise(mode.signal);
        }
        return mode.is_unreadable;
}
