/* SPDX-License-Identifier: MIT */
#include "util/fd.h"

#include <fcntl.h>
#include <sys/resource.h>

enum { MAX_OPENED = 16 };

bool fd_can_open(unsigned n)
{
        int fds[MAX_OPENED];
        unsigned i;

        n = n < MAX_OPENED ? n : MAX_OPENED;
        for (i = 0; i < n; i++) {
                fds[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
                if (fds[i] < 0)
                        break;
        }
        n = n - i;
        while (i > 0)
                fd_clear(&fds[--i]);
        return n == 0;
}

void fd_raise_limit(void)
{
        struct rlimit limit;

        if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
                return;
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
}
