/* SPDX-License-Identifier: MIT */
#include "doctor/sessiond-access.h"

#include "util/fd.h"
#include "util/proc-stat.h"
#include "util/proc.h"
#include "util/rootfs.h"

#include <dirent.h>
#include <fcntl.h>
#include <glib.h>
#include <grp.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#define DIRECTORY "run/lttng"
/* The version of its protocol follows. */
#define SOCKET_PREFIX "lttng-ust-sock-"
/* NGROUPS_MAX groups, each with a blank, fit. */
#define MAX_STATUS (1u << 20)

/* The name of the socket; the caller frees it. NULL with errno set. */
static char *sessiond_find_socket(int root)
{
        int fd = rootfs_open(root, DIRECTORY, O_RDONLY | O_DIRECTORY);
        DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
        const struct dirent *entry;
        char *name = NULL;

        if (!directory)
                return NULL;
        while (!name && (entry = readdir(directory)))
                if (g_str_has_prefix(entry->d_name, SOCKET_PREFIX))
                        name = g_strdup(entry->d_name);
        closedir(directory);
        errno = ENOENT;
        return name;
}

/* Takes on the effective user and group of PID, which are the second of four numbers, and its
 * groups. */
static bool process_impersonate(pid_t pid)
{
        g_autofree gid_t *groups = g_new(gid_t, NGROUPS_MAX);
        g_autofree char *status = NULL;
        uint32_t uids[2], gids[2];
        unsigned n_groups;
        size_t n;

        status = proc_read_file(pid, "status", MAX_STATUS, &n);
        if (!status || proc_status_numbers(status, "Uid", uids, 2) != 2 ||
            proc_status_numbers(status, "Gid", gids, 2) != 2)
                return false;
        n_groups = proc_status_numbers(status, "Groups", groups, NGROUPS_MAX);
        if (uids[1] == geteuid() && uids[1] != 0)
                return true;
        return setgroups(n_groups, groups) == 0 && setresgid(gids[1], gids[1], gids[1]) == 0 &&
               setresuid(uids[1], uids[1], uids[1]) == 0;
}

SessiondAccess sessiond_access_read(pid_t pid, int root)
{
        g_autofree char *name = sessiond_find_socket(root);
        FD_AUTO int directory = -1;
        int error;

        if (!name)
                return errno == ENOENT || errno == ENOTDIR ? SESSIOND_ACCESS_NO_SOCKET
                                                           : SESSIOND_ACCESS_UNKNOWN;
        if (!process_impersonate(pid))
                return SESSIOND_ACCESS_UNKNOWN;
        directory = rootfs_open(root, DIRECTORY, O_PATH | O_DIRECTORY);
        error = directory < 0 || faccessat(directory, name, W_OK, 0) < 0 ? errno : 0;
        return !error            ? SESSIOND_ACCESS_OPEN
               : error == EACCES ? SESSIOND_ACCESS_REFUSED
               : error == ENOENT ? SESSIOND_ACCESS_NO_SOCKET
                                 : SESSIOND_ACCESS_UNKNOWN;
}
