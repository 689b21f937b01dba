/* SPDX-License-Identifier: MIT */
#include "attach/processes.h"

#include "util/proc.h"

#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

/* The runtime, unless it is part of a single-file program. */
static const char RUNTIME[] = "/libcoreclr.so";

static bool process_is_dotnet(const char *name)
{
        size_t n;
        g_autofree char *maps =
                proc_read_file((pid_t)g_ascii_strtoll(name, NULL, 10), "maps", PROC_MAX_MAPS, &n);

        return maps && strstr(maps, RUNTIME);
}

static bool process_belongs_to(const char *name, uid_t uid)
{
        g_autofree char *path = g_strdup_printf("/proc/%s", name);
        struct stat st;

        return uid == PROCESSES_ANY_USER || (stat(path, &st) == 0 && st.st_uid == uid);
}

static int pid_compare(const void *a, const void *b)
{
        const pid_t left = *(const pid_t *)a, right = *(const pid_t *)b;

        return (left > right) - (left < right);
}

GArray *processes_find(uid_t uid)
{
        g_autoptr(GDir) proc = g_dir_open("/proc", 0, NULL);
        GArray *pids = g_array_new(FALSE, FALSE, sizeof(pid_t));
        const char *name;

        while (proc && (name = g_dir_read_name(proc))) {
                pid_t pid = (pid_t)g_ascii_strtoll(name, NULL, 10);

                if (g_ascii_isdigit(*name) && process_belongs_to(name, uid) &&
                    process_is_dotnet(name))
                        g_array_append_val(pids, pid);
        }
        g_array_sort(pids, pid_compare);
        return pids;
}
