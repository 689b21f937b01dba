/* SPDX-License-Identifier: MIT */
#include "util/child.h"

#include "util/fd.h"
#include "util/libc-extras.h"

#include <errno.h>
#include <poll.h>
#include <sys/wait.h>

/* ms between checks, if the kernel has no descriptor for a process. */
#define RETRY_MS 10

/* -1: no timeout. */
static int child_timeout_ms(gint64 deadline, bool has_descriptor)
{
        const gint64 left = deadline == G_MAXINT64
                                    ? G_MAXINT64
                                    : MAX(deadline - g_get_monotonic_time(), 0) / 1000 + 1;

        if (!has_descriptor)
                return (int)MIN(left, RETRY_MS);
        return left > G_MAXINT ? -1 : (int)left;
}

bool child_wait(pid_t pid, gint64 deadline, int wake_fd, int *ret_status)
{
        FD_AUTO int fd = pidfd_open(pid, 0);
        int status = 0;
        pid_t r;

        while ((r = waitpid(pid, &status, WNOHANG)) == 0 || (r < 0 && errno == EINTR)) {
                struct pollfd fds[] = {{.fd = fd, .events = POLLIN},
                                       {.fd = wake_fd, .events = POLLIN}};

                if (deadline != G_MAXINT64 && g_get_monotonic_time() >= deadline)
                        return false;
                if (poll(fds, 2, child_timeout_ms(deadline, fd >= 0)) > 0 && fds[1].revents)
                        return false;
        }
        if (ret_status)
                *ret_status = r < 0 ? 0 : status;
        return true;
}
