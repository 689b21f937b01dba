/* SPDX-License-Identifier: MIT */
#include "doctor/bounded.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_SAID   (4u << 20)
#define NO_PROGRAM 127

/* Reads until the end. False: that took too long, or was too much. */
static bool read_all(int fd, unsigned seconds, GString *said)
{
        gint64 deadline = g_get_monotonic_time() + seconds * G_TIME_SPAN_SECOND;

        for (;;) {
                gint64 left = deadline - g_get_monotonic_time();
                struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
                char bytes[4096];
                ssize_t n;

                if (left <= 0 || said->len > MAX_SAID)
                        return false;
                if (poll(&poll_fd, 1, (int)(left / 1000) + 1) <= 0)
                        continue;
                n = read(fd, bytes, sizeof(bytes));
                if (n == 0 || (n < 0 && errno != EINTR))
                        return true;
                if (n > 0)
                        g_string_append_len(said, bytes, n);
        }
}

BoundedResult bounded_call(void (*work)(int fd, void *data), void *data, unsigned seconds,
                           char **ret_said)
{
        g_autoptr(GString) said = g_string_new(NULL);
        pid_t pid, parent = getpid();
        int ends[2], status = 0;
        bool has_ended;

        *ret_said = NULL;
        if (pipe2(ends, O_CLOEXEC) < 0)
                return BOUNDED_FAILED;
        pid = fork();
        if (pid < 0) {
                close(ends[0]);
                close(ends[1]);
                return BOUNDED_FAILED;
        }
        if (pid == 0) {
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                if (getppid() != parent)
                        _exit(1);
                close(ends[0]);
                work(ends[1], data);
                _exit(0);
        }
        close(ends[1]);
        has_ended = read_all(ends[0], seconds, said);
        close(ends[0]);
        if (!has_ended)
                kill(pid, SIGKILL);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
                ;
        *ret_said = g_string_free(g_steal_pointer(&said), FALSE);
        if (!has_ended)
                return BOUNDED_TIMEOUT;
        if (WIFEXITED(status) && WEXITSTATUS(status) == NO_PROGRAM)
                return BOUNDED_NONE;
        return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? BOUNDED_OK : BOUNDED_FAILED;
}

static void become(int fd, void *data)
{
        char **command = data;
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);

        if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(fd, STDOUT_FILENO) >= 0 &&
            dup2(fd, STDERR_FILENO) >= 0)
                execvp(command[0], command);
        _exit(errno == ENOENT ? NO_PROGRAM : 1);
}

BoundedResult bounded_run(char **command, unsigned seconds, char **ret_said)
{
        return bounded_call(become, command, seconds, ret_said);
}
