/* SPDX-License-Identifier: MIT */
#include "util/free-space.h"

#include <glib.h>
#include <sys/statvfs.h>

bool free_space_allows(int fd, uint64_t n)
{
        struct statvfs fs;
        uint64_t kept;

        if (fstatvfs(fd, &fs) < 0)
                return true;
        kept = MIN((uint64_t)fs.f_blocks * fs.f_frsize / 10, FREE_SPACE_MOST_KEPT);
        return (uint64_t)fs.f_bavail * fs.f_frsize >= kept + n;
}
