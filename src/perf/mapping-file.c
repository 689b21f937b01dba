/* SPDX-License-Identifier: MIT */
#include "perf/mapping-file.h"

#include "util/fd.h"
#include "util/libc-extras.h"
#include "util/rootfs.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* Finds the line "ID PARENT MAJOR:MINOR ..." in the file. */
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

/*
 * The device number that the kernel shows in mappings of the open file FD, by our mounts or those
 * of process PID. stat() can show another number for a layer of an overlay or a subvolume of btrfs.
 * False: not known, as before Linux 5.8.
 */
static bool mount_device_find(int fd, int32_t pid, uint32_t *ret_major, uint32_t *ret_minor)
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

#define NS UINT64_C(1000000000)

#define OTHER_FILE "another file is there now"

const char *mapping_file_reason(int error)
{
        switch (error) {
        case ENOENT:
        case ENOTDIR:
        case ESRCH:
                return "it is not there";
        case EACCES:
        case EPERM:
                return "it may not be read";
        case ENOMEM:
                return "no memory left";
        case EINVAL: /* not a regular file */
                return OTHER_FILE;
        default:
                return "it cannot be read";
        }
}

static bool moment_is_later(const struct timespec *moment, uint64_t since)
{
        return moment->tv_sec < 0 || (uint64_t)moment->tv_sec >= UINT64_MAX / NS ||
               (uint64_t)moment->tv_sec * NS + (uint64_t)moment->tv_nsec > since;
}

/* perf records the device of the mount; stat() may show another one. */
static bool mapping_has_device(const Mapping *mapping, int fd, const struct stat *status)
{
        uint32_t major, minor;

        return (major(status->st_dev) == mapping->major &&
                minor(status->st_dev) == mapping->minor) ||
               (mount_device_find(fd, mapping->pid, &major, &minor) && major == mapping->major &&
                minor == mapping->minor);
}

/* NULL, or why FD is not the mapped file (static). */
static const char *mapping_compare(const Mapping *mapping, int fd, const struct stat *status)
{
        if (!S_ISREG(status->st_mode) ||
            (mapping->inode &&
             (status->st_ino != mapping->inode || !mapping_has_device(mapping, fd, status))))
                return OTHER_FILE;
        /* Every change of a file updates its ctime, which programs cannot set. */
        if (moment_is_later(&status->st_ctim, mapping->since))
                return "it was changed since it was mapped";
        return NULL;
}

/* False: the inode has another generation. True also if the file system reports none. */
static bool file_has_generation(int fd, uint64_t generation)
{
        long number = 0;

        return ioctl(fd, FS_IOC_GETVERSION, &number) < 0 ||
               (uint32_t)number == (uint32_t)generation;
}

/* Finds the present file, without opening it for reading. */
static int mapping_find(const Mapping *mapping, MappingSource source)
{
        FD_AUTO int root = -1;
        char link[96];

        if (source == MAPPING_IN_MEMORY) {
                snprintf(link, sizeof(link), "/proc/%" PRId32 "/map_files/%" PRIx64 "-%" PRIx64,
                         mapping->pid, mapping->start, mapping->end);
                return rootfs_find_linked(link);
        }
        root = rootfs_open_root(source == MAPPING_HERE ? 0 : mapping->pid);
        return root >= 0 ? rootfs_find(root, mapping->path) : -1;
}

const char *mapping_file_open(const Mapping *mapping, MappingSource source, int *ret_fd,
                              struct stat *ret_status)
{
        FD_AUTO int found = mapping_find(mapping, source);
        FD_AUTO int fd = -1;
        const char *reason;

        if (found < 0 || fstat(found, ret_status) < 0)
                return mapping_file_reason(errno);
        reason = mapping_compare(mapping, found, ret_status);
        if (reason)
                return reason;
        fd = rootfs_open_found(found);
        if (fd < 0 || fstat(fd, ret_status) < 0)
                return mapping_file_reason(errno);
        /* The file may have changed since the first comparison. */
        reason = mapping_compare(mapping, fd, ret_status);
        if (!reason && mapping->has_generation && !file_has_generation(fd, mapping->generation))
                reason = OTHER_FILE;
        if (!reason)
                *ret_fd = fd_steal(&fd);
        return reason;
}
