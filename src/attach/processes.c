/* SPDX-License-Identifier: MIT */
#include "attach/processes.h"

#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

/* What the runtime is in, of those that are made of several files. */
static const char RUNTIME[] = "/libcoreclr.so";

static bool is_dotnet(const char *name)
{
        g_autofree char *path = g_strdup_printf("/proc/%s/maps", name), *maps = NULL;

        return g_file_get_contents(path, &maps, NULL, NULL) && strstr(maps, RUNTIME);
}

static bool is_of(const char *name, uid_t uid)
{
        g_autofree char *path = g_strdup_printf("/proc/%s", name);
        struct stat st;

        return uid == PROCESSES_ANY_USER || (stat(path, &st) == 0 && st.st_uid == uid);
}

static int compare(const void *a, const void *b)
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

                if (g_ascii_isdigit(*name) && is_of(name, uid) && is_dotnet(name))
                        g_array_append_val(pids, pid);
        }
        g_array_sort(pids, compare);
        return pids;
}
