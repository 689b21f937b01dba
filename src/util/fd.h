/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * File descriptors that close themselves
 *
 *     FD_AUTO int fd = open(path, O_RDONLY | O_CLOEXEC);
 *
 * closes fd at the end of its scope, whatever leaves it, and keeps errno. -1 is not a descriptor.
 */

#include <errno.h>
#include <stdbool.h>
#include <unistd.h>

#define FD_AUTO __attribute__((cleanup(fd_clear)))

/* Closes *FD, if it is open, and sets it to -1. Keeps errno. */
static inline void fd_clear(int *fd)
{
        int saved = errno;

        if (*fd >= 0)
                close(*fd);
        *fd = -1;
        errno = saved;
}

/* Hands the descriptor over to the caller. */
static inline int fd_steal(int *fd)
{
        int stolen = *fd;

        *fd = -1;
        return stolen;
}

/* Can this process open N more descriptors (at most 16) now? False with errno set: then a file that
 * was not found can exist. */
bool fd_can_open(unsigned n);

/* Raises the number of descriptors of this process to its hard limit. Only for programs that do not
 * use select(), and that start no others, which would inherit the limit. */
void fd_raise_limit(void);
