/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Libc extras: functions of glibc that another C library (musl) lacks
 *
 * With glibc this file includes headers only. Each function behaves as its manual page says, except
 * where a comment names a difference. Plain C, without GLib.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if __has_include(<sys/pidfd.h>)
#include <sys/pidfd.h>
#else
static inline int pidfd_open(pid_t pid, unsigned flags)
{
        return (int)syscall(SYS_pidfd_open, pid, flags);
}

static inline int pidfd_send_signal(int fd, int number, siginfo_t *info, unsigned flags)
{
        return (int)syscall(SYS_pidfd_send_signal, fd, number, info, flags);
}
#endif

/* musl has statx() since 1.2.5, with its constants. */
#ifndef STATX_TYPE
#include <linux/stat.h>

static inline int statx(int directory, const char *path, int flags, unsigned mask,
                        struct statx *ret_status)
{
        return (int)syscall(SYS_statx, directory, path, flags, mask, ret_status);
}
#endif
/* Kernel headers before 5.8 do not have it. */
#ifndef STATX_MNT_ID
#define STATX_MNT_ID 0x1000u
#endif

#ifndef __GLIBC__
/* The names are our own, because a newer libc may declare the same functions. */

static inline int extras_close_range(unsigned first, unsigned last, int flags)
{
        return (int)syscall(SYS_close_range, first, last, flags);
}

/* musl returns large blocks to the system by itself, and has no settings. */
static inline int extras_mallopt(int parameter, int value)
{
        return 1;
}

static inline int extras_malloc_trim(size_t pad)
{
        return 0;
}

/* A difference: closes the descriptors that are open now. A descriptor that another thread opens
 * later stays open. */
static inline int extras_addclosefrom(posix_spawn_file_actions_t *actions, int from)
{
        DIR *directory = opendir("/proc/self/fd");
        struct dirent *entry;
        int r = 0;

        if (!directory)
                return errno;
        while (!r && (entry = readdir(directory))) {
                const int fd = atoi(entry->d_name);

                if (fd >= from && fd != dirfd(directory))
                        r = posix_spawn_file_actions_addclose(actions, fd);
        }
        closedir(directory);
        return r;
}

#define close_range                              extras_close_range
#define mallopt                                  extras_mallopt
#define malloc_trim                              extras_malloc_trim
#define posix_spawn_file_actions_addclosefrom_np extras_addclosefrom
/* musl's texts are constants, as those of the missing functions. */
#define strerrordesc_np strerror
#define sigdescr_np     strsignal
#ifndef M_MMAP_THRESHOLD
#define M_TRIM_THRESHOLD -1
#define M_MMAP_THRESHOLD -3
#endif
#endif
