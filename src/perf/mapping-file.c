/* SPDX-License-Identifier: MIT */
#include "perf/mapping-file.h"

#include "perf/mount-device.h"
#include "util/fd.h"
#include "util/rootfs.h"

#include <inttypes.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>

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
        case EINVAL: /* it is not a regular file */
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

/* perf has the device of the mount, which may be another one than that of stat(). */
static bool mapping_has_device(const Mapping *mapping, int fd, const struct stat *status)
{
        uint32_t major, minor;

        return (major(status->st_dev) == mapping->major &&
                minor(status->st_dev) == mapping->minor) ||
               (mount_device_find(fd, mapping->pid, &major, &minor) && major == mapping->major &&
                minor == mapping->minor);
}

/* NULL, or why it is not the file that was mapped (static). */
static const char *mapping_compare(const Mapping *mapping, int fd, const struct stat *status)
{
        if (!S_ISREG(status->st_mode) ||
            (mapping->inode &&
             (status->st_ino != mapping->inode || !mapping_has_device(mapping, fd, status))))
                return OTHER_FILE;
        /* Every change of a file sets its ctime, which no program can set to another time. */
        if (moment_is_later(&status->st_ctim, mapping->since))
                return "it was changed since it was mapped";
        return NULL;
}

/* The inode's generation, in file systems that count how often an inode was used. */
static bool file_has_generation(int fd, uint64_t generation)
{
        long number = 0;

        return ioctl(fd, FS_IOC_GETVERSION, &number) < 0 ||
               (uint32_t)number == (uint32_t)generation;
}

/* Finds what is there now, without opening it. */
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
        /* It may have been changed meanwhile. */
        reason = mapping_compare(mapping, fd, ret_status);
        if (!reason && mapping->has_generation && !file_has_generation(fd, mapping->generation))
                reason = OTHER_FILE;
        if (!reason)
                *ret_fd = fd_steal(&fd);
        return reason;
}
