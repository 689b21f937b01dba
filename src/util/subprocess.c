/* SPDX-License-Identifier: MIT */
#include "util/subprocess.h"

#include "util/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_OUTPUT (4u << 20)
#define NO_PROGRAM 127

/* Reads up to the end of file. False: a timeout, or too much output. */
static bool subprocess_read_all(int fd, unsigned seconds, GString *output)
{
        gint64 deadline = g_get_monotonic_time() + seconds * G_TIME_SPAN_SECOND;

        for (;;) {
                gint64 left = deadline - g_get_monotonic_time();
                struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
                char bytes[4096];
                ssize_t n;

                if (left <= 0 || output->len > MAX_OUTPUT)
                        return false;
                if (poll(&poll_fd, 1, (int)(left / 1000) + 1) <= 0)
                        continue;
                n = read(fd, bytes, sizeof(bytes));
                if (n == 0 || (n < 0 && errno != EINTR))
                        return true;
                if (n > 0)
                        g_string_append_len(output, bytes, n);
        }
}

SubprocessResult subprocess_call(void (*work)(int fd, void *data), void *data, unsigned seconds,
                                 char **ret_output)
{
        g_autoptr(GString) output = g_string_new(NULL);
        pid_t pid, parent = getpid();
        int ends[2], status = 0;
        bool has_ended;

        *ret_output = NULL;
        if (pipe2(ends, O_CLOEXEC) < 0)
                return SUBPROCESS_FAILED;
        pid = fork();
        if (pid < 0) {
                close(ends[0]);
                close(ends[1]);
                return SUBPROCESS_FAILED;
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
        has_ended = subprocess_read_all(ends[0], seconds, output);
        close(ends[0]);
        if (!has_ended)
                kill(pid, SIGKILL);
        child_wait(pid, G_MAXINT64, -1, &status);
        *ret_output = g_string_free(g_steal_pointer(&output), FALSE);
        if (!has_ended)
                return SUBPROCESS_TIMEOUT;
        if (WIFEXITED(status) && WEXITSTATUS(status) == NO_PROGRAM)
                return SUBPROCESS_NONE;
        return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? SUBPROCESS_OK : SUBPROCESS_FAILED;
}

static void subprocess_exec(int fd, void *data)
{
        char **command = data;
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);

        if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(fd, STDOUT_FILENO) >= 0 &&
            dup2(fd, STDERR_FILENO) >= 0)
                execvp(command[0], command);
        _exit(errno == ENOENT ? NO_PROGRAM : 1);
}

SubprocessResult subprocess_run(char **command, unsigned seconds, char **ret_output)
{
        return subprocess_call(subprocess_exec, command, seconds, ret_output);
}
