/* SPDX-License-Identifier: MIT */
#include "perf/perf-map.h"

#include "util/clock.h"
#include "util/proc-stat.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* perf's names of memory whose symbols come from a perf map. */
static const char *const DSOS[] = {"/tmp/perf-", "[JIT] tid "};

/* Seconds: the start of a process is exact to a tick, and the clock may have been adjusted. */
#define SLACK 1.0

static double clock_seconds(clockid_t id)
{
        return (double)clock_ns(id) / (double)NS_PER_SECOND;
}

static bool map_is_stale(int32_t pid)
{
        const double ticks = (double)sysconf(_SC_CLK_TCK);
        char path[64];
        ProcStat process;
        struct stat st;
        double age;

        snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)pid);
        if (stat(path, &st) < 0 || !proc_stat_read(pid, &process) || process.state == 'Z')
                return false;
        age = clock_seconds(CLOCK_BOOTTIME) - (double)process.start_ticks / ticks;
        return (double)st.st_mtim.tv_sec + SLACK < clock_seconds(CLOCK_REALTIME) - age;
}

bool perf_map_is_stale(PerfMap *map, const char *dso, int32_t pid)
{
        size_t i;

        for (i = 0; i < sizeof(DSOS) / sizeof(DSOS[0]); i++)
                if (!strncmp(dso, DSOS[i], strlen(DSOS[i])))
                        break;
        if (i == sizeof(DSOS) / sizeof(DSOS[0]) || pid <= 0)
                return false;
        if (map->pid != pid)
                *map = (PerfMap){.pid = pid, .is_stale = map_is_stale(pid)};
        return map->is_stale;
}
