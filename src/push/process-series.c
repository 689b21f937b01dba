/* SPDX-License-Identifier: MIT */
#include "push/process-series.h"

#include "util/proc.h"

#include <string.h>

/* The program that runs assemblies. */
#define HOST      "dotnet"
#define ASSEMBLY  ".dll"
#define MAX_COMM  64
#define MAX_GROUP (64u << 10)

/*
 * Hexadecimal digits of an id of Docker, containerd, CRI-O and podman, with other text around them.
 */
#define N_ID 64

char *process_series_container(const char *cgroup)
{
        const char *found = NULL, *p = cgroup;

        while (*p) {
                const size_t n = strspn(p, "0123456789abcdef");

                if (n == N_ID)
                        found = p;
                p += n ? n : 1;
        }
        return found ? g_strndup(found, N_ID) : NULL;
}

char *process_series_assembly(const char *arguments, size_t n)
{
        const char *end = arguments + n, *p = arguments;

        /* After the program's own name: options, then the assembly. */
        for (p += strnlen(p, n) + 1; p < end; p += strnlen(p, (size_t)(end - p)) + 1) {
                g_autofree char *argument = g_strndup(p, (size_t)(end - p));
                g_autofree char *name = g_path_get_basename(argument);

                if (g_str_has_suffix(name, ASSEMBLY) && strlen(name) > strlen(ASSEMBLY))
                        return g_strndup(name, strlen(name) - strlen(ASSEMBLY));
                if (*p != '-')
                        return NULL;
        }
        return NULL;
}

static char *process_series_read(int32_t pid, const char *name, size_t max, size_t *ret_n)
{
        char *text = proc_read_file(pid, name, max, ret_n);

        return text ? text : g_strdup("");
}

/* perf writes this for a thread whose name it has not seen. A series for each number has no use. */
static bool comm_is_number(const char *comm)
{
        return comm[0] == ':' && comm[1 + strspn(comm + 1, "0123456789")] == '\0';
}

bool process_series_init(ProcessSeries *series, int32_t pid, uint64_t time, const char *comm)
{
        const uint64_t start = proc_start_time(pid);
        const bool is_there = start && start <= time;
        g_autofree char *arguments = NULL, *cgroup = NULL, *name = NULL;
        size_t n = 0;

        *series = (ProcessSeries){NULL, NULL};
        /* Another process can have its pid now. */
        if (is_there) {
                name = g_strchomp(process_series_read(pid, "comm", MAX_COMM, &n));
                cgroup = process_series_read(pid, "cgroup", MAX_GROUP, &n);
                series->container = process_series_container(cgroup);
        }
        if (!g_strcmp0(name, HOST)) {
                arguments = proc_read_file(pid, "cmdline", PROC_MAX_COMMAND, &n);
                series->process = arguments ? process_series_assembly(arguments, n) : NULL;
        }
        if (!series->process)
                series->process = g_strdup(name && *name          ? name
                                           : comm_is_number(comm) ? "unknown"
                                                                  : comm);
        /* Threads of the kernel: "kworker/3:1-events". */
        if (strcspn(series->process, "/") > 0)
                series->process[strcspn(series->process, "/")] = '\0';
        return is_there;
}

void process_series_clear(ProcessSeries *series)
{
        g_clear_pointer(&series->process, g_free);
        g_clear_pointer(&series->container, g_free);
}
