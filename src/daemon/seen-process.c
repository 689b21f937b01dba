/* SPDX-License-Identifier: MIT */
#include "daemon/seen-process.h"

#include "util/fd.h"
#include "util/libc-extras.h"

#include <errno.h>

SeenProcess seen_process_open(pid_t pid)
{
        return (SeenProcess){.pidfd = pidfd_open(pid, 0)};
}

void seen_process_clear(SeenProcess *process)
{
        fd_clear(&process->pidfd);
}

static bool pidfd_lives(int pidfd)
{
        return pidfd >= 0 && (pidfd_send_signal(pidfd, 0, NULL, 0) == 0 || errno == EPERM);
}

bool seen_process_lives(SeenProcess *process, int64_t now)
{
        if (process->seen && now - process->seen < SEEN_PROCESS_FRESH_US)
                return true;
        if (!pidfd_lives(process->pidfd))
                return false;
        process->seen = now;
        return true;
}
