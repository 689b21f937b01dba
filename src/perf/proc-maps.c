/* SPDX-License-Identifier: MIT */
#include "perf/proc-maps.h"

#include "util/clock.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NS UINT64_C(1000000000)

/*
 * In ns: the kernel reports the start of a process in ticks, and times of files are hardly more
 * exact.
 */
#define TICKS_NS UINT64_C(100000000)

/* Index of the start time in /proc/PID/stat, counted from the state, the field after the name. */
#define STAT_START 19

/* In ns since boot; 0: the process does not exist. */
static uint64_t process_start(int32_t pid)
{
        long hz = sysconf(_SC_CLK_TCK);
        char path[64], line[1024];
        uint64_t ticks;
        const char *at;
        FILE *file;
        size_t n;
        int i;

        snprintf(path, sizeof(path), "/proc/%" PRId32 "/stat", pid);
        file = fopen(path, "re");
        if (!file)
                return 0;
        n = fread(line, 1, sizeof(line) - 1, file);
        fclose(file);
        line[n] = '\0';
        at = strrchr(line, ')');
        for (i = 0; at && i <= STAT_START; i++)
                at = strchr(at + 1, ' ');
        ticks = at ? strtoull(at + 1, NULL, 10) : 0;
        return hz > 0 && ticks < UINT64_MAX / NS ? ticks * NS / (uint64_t)hz : 0;
}

bool proc_maps_read(int32_t pid, ProcMapsFn fn, void *data)
{
        uint64_t boot = (uint64_t)(clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME)),
                 start = process_start(pid);
        char *line = NULL, path[64];
        size_t n_line = 0;
        bool ok = true;
        FILE *file;
        ssize_t n;

        snprintf(path, sizeof(path), "/proc/%" PRId32 "/maps", pid);
        file = start ? fopen(path, "re") : NULL;
        if (!file)
                return true;
        while (ok && (n = getline(&line, &n_line, file)) > 0) {
                Mapping mapping;

                if (line[n - 1] == '\n')
                        line[n - 1] = '\0';
                if (!mapping_take_map(&mapping, line))
                        continue;
                mapping.pid = pid;
                mapping.time = start + TICKS_NS;
                mapping.since = boot + start - TICKS_NS;
                ok = fn(data, &mapping);
        }
        free(line);
        fclose(file);
        return ok;
}
