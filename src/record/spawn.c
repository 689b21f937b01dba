/* SPDX-License-Identifier: MIT */
#include "record/spawn.h"

#include "util/child.h"
#include "util/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* The shell's status of a program that cannot be started. */
#define STATUS_NOT_STARTED 127

/* In the child. */
static void spawn_reset_signals(void)
{
        static const int SIGNALS[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD};
        sigset_t none;
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(SIGNALS); i++)
                signal(SIGNALS[i], SIG_DFL);
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
}

/* The parent may have died before the signal was set. */
static void spawn_die_with(pid_t parent, int signal_number)
{
        prctl(PR_SET_PDEATHSIG, signal_number);
        if (getppid() != parent)
                _exit(STATUS_NOT_STARTED);
}

static void spawn_set_error(const char *program, GError **error)
{
        g_set_error(error, SPAWN_ERROR, 0, "cannot start %s: %s", program, g_strerror(errno));
}

pid_t spawn_helper(const char *const *argv, const SpawnSettings *settings, GError **error)
{
        const pid_t parent = getpid();
        pid_t pid;
        unsigned i;

        if (access(argv[0], X_OK) < 0 || (pid = fork()) < 0) {
                spawn_set_error(argv[0], error);
                return 0;
        }
        if (pid > 0)
                return pid;
        spawn_die_with(parent, settings->death_signal);
        spawn_reset_signals();
        setpgid(0, 0);
        for (i = 0; i < settings->n_kept; i++)
                fcntl(settings->kept[i], F_SETFD, 0);
        dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
        dup2(settings->log_fd, STDOUT_FILENO);
        dup2(settings->log_fd, STDERR_FILENO);
        execv(argv[0], (char **)argv);
        _exit(STATUS_NOT_STARTED);
}

bool spawn_command(char **argv, char **environment, SpawnCommand *ret_command, GError **error)
{
        const pid_t parent = getpid();
        int fds[2] = {-1, -1};
        pid_t pid = -1;
        char byte;

        /* One socket for both: the order to begin, and then the error. */
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0)
                pid = fork();
        if (pid < 0) {
                spawn_set_error(argv[0], error);
                fd_clear(&fds[0]);
                fd_clear(&fds[1]);
                return false;
        }
        if (pid == 0) {
                spawn_die_with(parent, SIGTERM);
                close(fds[0]);
                if (read(fds[1], &byte, 1) != 1)
                        _exit(STATUS_NOT_STARTED);
                spawn_reset_signals();
                execvpe(argv[0], argv, environment);
                (void)!write(fds[1], &errno, sizeof(errno));
                _exit(STATUS_NOT_STARTED);
        }
        close(fds[1]);
        *ret_command = (SpawnCommand){pid, fds[0]};
        return true;
}

bool spawn_command_go(SpawnCommand *command, const char *name, GError **error)
{
        int reason = 0;
        ssize_t n;

        (void)!write(command->go_fd, "", 1);
        do
                n = read(command->go_fd, &reason, sizeof(reason));
        while (n < 0 && errno == EINTR);
        fd_clear(&command->go_fd);
        if (n != sizeof(reason))
                return true;
        errno = reason;
        spawn_set_error(name, error);
        spawn_end(&command->pid, SIGKILL, 0, -1);
        return false;
}

bool spawn_is_woken(int wake_fd)
{
        struct pollfd fd = {.fd = wake_fd, .events = POLLIN};

        return poll(&fd, 1, 0) > 0;
}

void spawn_end(pid_t *pid, int signal_number, gint64 limit, int wake_fd)
{
        int status;

        if (*pid <= 0)
                return;
        kill(*pid, signal_number);
        if (!child_wait(*pid, g_get_monotonic_time() + limit, wake_fd, &status)) {
                /* With the processes that it started: nobody waits for them. */
                kill(-*pid, SIGKILL);
                kill(*pid, SIGKILL);
                child_wait(*pid, G_MAXINT64, -1, &status);
        }
        *pid = 0;
}
