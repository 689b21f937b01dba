/* SPDX-License-Identifier: MIT */
#include "perf/mount-device.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#ifndef STATX_MNT_ID
#define STATX_MNT_ID 0x1000u
#endif

/* Looks for "ID PARENT MAJOR:MINOR ..." in the file. */
static bool mounts_find(const char *path, uint64_t id, uint32_t *ret_major, uint32_t *ret_minor)
{
        FILE *file = fopen(path, "re");
        bool is_found = false;
        char *line = NULL;
        size_t n = 0;

        while (file && !is_found && getline(&line, &n, file) > 0) {
                uint64_t this_id;

                is_found = sscanf(line, "%" SCNu64 " %*u %" SCNu32 ":%" SCNu32, &this_id, ret_major,
                                  ret_minor) == 3 &&
                           this_id == id;
        }
        free(line);
        if (file)
                fclose(file);
        return is_found;
}

bool mount_device_find(int fd, int32_t pid, uint32_t *ret_major, uint32_t *ret_minor)
{
        struct statx status;
        char path[64];

        if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &status) < 0 ||
            !(status.stx_mask & STATX_MNT_ID))
                return false;
        snprintf(path, sizeof(path), "/proc/%" PRId32 "/mountinfo", pid);
        return mounts_find("/proc/self/mountinfo", status.stx_mnt_id, ret_major, ret_minor) ||
               mounts_find(path, status.stx_mnt_id, ret_major, ret_minor);
}
