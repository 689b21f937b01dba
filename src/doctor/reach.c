/* SPDX-License-Identifier: MIT */
#include "doctor/reach.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <grp.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DIRECTORY "run/lttng"
/* The number of its protocol comes behind. */
#define SOCKET_PREFIX "lttng-ust-sock-"
/* NGROUPS_MAX of them, each with a blank, fit. */
#define MAX_STATUS (1u << 20)

static const char *const NAMES[_REACH_MAX] = {
        [REACH_OPEN] = "open",
        [REACH_NONE] = "none",
        [REACH_REFUSED] = "refused",
        [REACH_UNKNOWN] = "unknown",
};

static int open_directory(int root, uint64_t flags)
{
        struct open_how how = {
                .flags = flags | O_DIRECTORY | O_CLOEXEC,
                .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
        };

        return (int)syscall(SYS_openat2, root, DIRECTORY, &how, sizeof(how));
}

/* The name of the socket; the caller's, or NULL with errno set. */
static char *find_socket(int root)
{
        int fd = open_directory(root, O_RDONLY);
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

/* The numbers of a line of /proc/PID/status: "Groups:\t4 20 24 \n". */
static GArray *read_numbers(const char *status, const char *name)
{
        GArray *numbers = g_array_new(FALSE, FALSE, sizeof(gid_t));
        const char *at = strstr(status, name);
        char *end;

        for (at = at ? at + strlen(name) : ""; *at && *at != '\n'; at = end) {
                gid_t number = (gid_t)strtoul(at, &end, 10);

                if (end == at)
                        break;
                g_array_append_val(numbers, number);
                while (*end == ' ' || *end == '\t')
                        end++;
        }
        return numbers;
}

/* With its effective user and group, which are the second ones of four. */
static bool become(pid_t pid)
{
        g_autofree char *path = g_strdup_printf("/proc/%d/status", (int)pid);
        g_autofree char *status = g_malloc0(MAX_STATUS);
        g_autoptr(GArray) uids = NULL, gids = NULL, groups = NULL;
        FILE *file = fopen(path, "re");
        bool is_read = file && fread(status, 1, MAX_STATUS - 1, file) > 0;
        gid_t uid, gid;

        if (file)
                fclose(file);
        if (!is_read)
                return false;
        uids = read_numbers(status, "\nUid:");
        gids = read_numbers(status, "\nGid:");
        groups = read_numbers(status, "\nGroups:");
        if (uids->len < 2 || gids->len < 2)
                return false;
        uid = g_array_index(uids, gid_t, 1);
        gid = g_array_index(gids, gid_t, 1);
        if (uid == geteuid() && uid != 0)
                return true;
        return setgroups(groups->len, (const gid_t *)(const void *)groups->data) == 0 &&
               setresgid(gid, gid, gid) == 0 && setresuid(uid, uid, uid) == 0;
}

Reach reach_session_daemon(pid_t pid, int root)
{
        g_autofree char *name = find_socket(root);
        int directory, error;

        if (!name)
                return errno == ENOENT || errno == ENOTDIR ? REACH_NONE : REACH_UNKNOWN;
        if (!become(pid))
                return REACH_UNKNOWN;
        directory = open_directory(root, O_PATH);
        error = directory < 0 || faccessat(directory, name, W_OK, 0) < 0 ? errno : 0;
        if (directory >= 0)
                close(directory);
        return !error            ? REACH_OPEN
               : error == EACCES ? REACH_REFUSED
               : error == ENOENT ? REACH_NONE
                                 : REACH_UNKNOWN;
}

const char *reach_name(Reach reach)
{
        return NAMES[reach];
}
