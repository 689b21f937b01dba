/* SPDX-License-Identifier: MIT */
#include "attach/processes.h"

#include "util/proc.h"

#include <string.h>

/*
 * The runtime; and its memory for code, which is mapped a second time to be written to, unless
 * DOTNET_EnableWriteXorExecute=0: that shows where the runtime is part of a single-file program.
 */
static const char RUNTIME[] = "/libcoreclr.so", DOUBLE_MAPPED[] = "/memfd:doublemapper";

static bool process_is_dotnet(pid_t pid)
{
        size_t n;
        g_autofree char *maps = proc_read_file(pid, "maps", PROC_MAX_MAPS, &n);

        return maps && (strstr(maps, RUNTIME) || strstr(maps, DOUBLE_MAPPED));
}

bool process_is_wanted(pid_t pid, uid_t uid, const ProcessFilter *filter)
{
        uint32_t owner;

        return proc_uid(pid, &owner) && (uid == PROCESSES_ANY_USER || uid == owner) &&
               process_is_dotnet(pid) && !(filter && process_filter_excludes(filter, pid, owner));
}

static int pid_compare(const void *a, const void *b)
{
        const pid_t left = *(const pid_t *)a, right = *(const pid_t *)b;

        return (left > right) - (left < right);
}

GArray *processes_find(uid_t uid, const ProcessFilter *filter)
{
        g_autoptr(GDir) proc = g_dir_open("/proc", 0, NULL);
        GArray *pids = g_array_new(FALSE, FALSE, sizeof(pid_t));
        const char *name;

        while (proc && (name = g_dir_read_name(proc))) {
                pid_t pid = (pid_t)g_ascii_strtoll(name, NULL, 10);

                if (g_ascii_isdigit(*name) && process_is_wanted(pid, uid, filter))
                        g_array_append_val(pids, pid);
        }
        g_array_sort(pids, pid_compare);
        return pids;
}
