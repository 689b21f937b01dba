/* SPDX-License-Identifier: MIT */
#include "daemon/proc.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Of /proc/PID/stat, counted from the one behind the command: proc(5) has it as the 22nd of all. */
enum { FIELD_STARTTIME = 19 };

static int64_t clock_ns(clockid_t id)
{
        struct timespec now;

        clock_gettime(id, &now);
        return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

uint64_t proc_own_pid_ns(void)
{
        struct stat st;

        return stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
}

uint64_t proc_start_time(int32_t pid)
{
        g_autofree char *path = g_strdup_printf("/proc/%d/stat", (int)pid), *text = NULL;
        g_auto(GStrv) fields = NULL;
        const char *behind;
        int64_t start;

        if (!g_file_get_contents(path, &text, NULL, NULL))
                return 0;
        behind = strrchr(text, ')'); /* the command may hold anything */
        fields = behind ? g_strsplit(behind + 2, " ", FIELD_STARTTIME + 2) : NULL;
        if (!fields || g_strv_length(fields) < FIELD_STARTTIME + 1)
                return 0;
        /* Ticks since boot, and boot includes the time that the machine was suspended. */
        start = g_ascii_strtoll(fields[FIELD_STARTTIME], NULL, 10) *
                        (1000000000 / sysconf(_SC_CLK_TCK)) -
                (clock_ns(CLOCK_BOOTTIME) - clock_ns(CLOCK_MONOTONIC));
        return start > 0 ? (uint64_t)start : 1;
}
