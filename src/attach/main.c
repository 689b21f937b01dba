/* SPDX-License-Identifier: MIT */

/*
 * clrsym-holder: holds the EventPipe sessions that `clrsym attach` opens
 */

#include "attach/eventpipe-feed.h"
#include "attach/holder-path.h"
#include "attach/holder.h"
#include "event/boot-id.h"
#include "util/fd.h"
#include "util/log-writer.h"
#include "util/runtime-path.h"
#include "util/systemd.h"

#include <glib-unix.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char *arg_directory;
static char *arg_port;
static char *arg_ingest;
static char *arg_daemon_user;
static gboolean arg_version;

static const GOptionEntry OPTIONS[] = {
        {"directory", 0, 0, G_OPTION_ARG_FILENAME, &arg_directory,
         "The directory of the control socket and the state (default /run/clrsym/holder, or "
         "$XDG_RUNTIME_DIR/clrsym/holder)",
         "DIR"},
        {"port", 0, 0, G_OPTION_ARG_FILENAME, &arg_port,
         "The socket for runtimes that connect by themselves (default: port, in that directory)",
         "PATH"},
        {"ingest", 0, 0, G_OPTION_ARG_FILENAME, &arg_ingest,
         "The daemon's ingest socket (default $CLRSYM_INGEST, one below $XDG_RUNTIME_DIR, or "
         "/run/clrsym/ingest)",
         "PATH"},
        {"daemon-user", 0, 0, G_OPTION_ARG_STRING, &arg_daemon_user,
         "A user who may order rundowns of all attached processes (default: none)", "NAME"},
        {"version", 0, 0, G_OPTION_ARG_NONE, &arg_version, "Show the version", NULL},
        {0},
};

static int holder_main_fail(const char *message)
{
        fprintf(stderr, "clrsym-holder: %s\n", message);
        return 1;
}

/* Without such a user, returns our own, which may do everything anyway. */
static uid_t find_daemon_uid(void)
{
        const struct passwd *user = arg_daemon_user ? getpwnam(arg_daemon_user) : NULL;

        if (arg_daemon_user && !user)
                fprintf(stderr,
                        "clrsym-holder: warning: there is no user %s: no user may order rundowns "
                        "of "
                        "other users' processes\n",
                        arg_daemon_user);
        return user ? user->pw_uid : geteuid();
}

static void holder_main_on_idle(void *data)
{
        g_main_loop_quit(data);
}

static gboolean holder_main_on_signal(gpointer data)
{
        g_main_loop_quit(data);
        return G_SOURCE_CONTINUE;
}

int main(int argc, char **argv)
{
        g_autoptr(GOptionContext) options = g_option_context_new(NULL);
        g_autoptr(GMainLoop) loop = g_main_loop_new(NULL, FALSE);
        g_autofree char *directory = NULL, *ingest = NULL, *boot_id = NULL;
        g_autoptr(GError) error = NULL;
        int fds[_HOLDER_SOCKET_MAX];
        uint64_t spill_total = SPILL_TOTAL;
        BacklogLimits limits;
        Holder *holder;

        log_writer_init();
        g_option_context_set_summary(
                options,
                "Holds the sessions that `clrsym attach` opens. It is started by `clrsym attach`.");
        g_option_context_add_main_entries(options, OPTIONS, NULL);
        if (!g_option_context_parse(options, &argc, &argv, &error)) {
                holder_main_fail(error->message);
                return 2;
        }
        if (arg_version) {
                printf("clrsym-holder " CLRSYM_VERSION "\n");
                return 0;
        }
        if (!eventpipe_feed_find_limits(&limits, &error) ||
            !spill_size_find(SPILL_TOTAL_VARIABLE, &spill_total, &error)) {
                holder_main_fail(error->message);
                return 2;
        }
        /* Without the boot id, the daemon would take the events for those of another boot, and
         * their processes for ended ones: a program with a reused pid would get the old one's
         * names. */
        boot_id = boot_id_read(&error);
        if (!boot_id)
                return holder_main_fail(error->message);
        directory = arg_directory ? g_canonicalize_filename(arg_directory, NULL)
                                  : holder_path_own(&error);
        if (!directory)
                return holder_main_fail(error->message);
        ingest = arg_ingest ? g_strdup(arg_ingest)
                            : runtime_path_find("CLRSYM_INGEST", RUNTIME_INGEST);
        /* Each attachment needs two descriptors. */
        fd_raise_limit();
        signal(SIGPIPE, SIG_IGN);
        /* A signal that comes before the loop runs is handled once it does. */
        g_unix_signal_add(SIGTERM, holder_main_on_signal, loop);
        g_unix_signal_add(SIGINT, holder_main_on_signal, loop);
        systemd_listen_fds(HOLDER_SOCKETS, G_N_ELEMENTS(fds), fds);
        holder = holder_new(directory, arg_port, ingest, arg_ingest != NULL, find_daemon_uid(), fds,
                            holder_main_on_idle, loop, &error);
        if (!holder)
                return holder_main_fail(error->message);
        systemd_notify("READY=1");
        g_main_loop_run(loop);
        systemd_notify("STOPPING=1");
        holder_free(holder);
        return 0;
}
