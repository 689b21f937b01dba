/* SPDX-License-Identifier: MIT */
#include "util/proc.h"

#include "util/clock.h"
#include "util/fd.h"
#include "util/proc-stat.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <linux/nsfs.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A status lists up to 65536 groups of ten digits in front of the pids. */
#define MAX_FILE  (1u << 20)
#define READ_SIZE (4u << 10)
/* Bytes of a command line that are kept. */
#define MAX_COMMAND 1024
/* Bytes of /proc/PID/task/TID/comm; the kernel has 16. */
#define MAX_THREAD_NAME 64

/* A whole file below a process's directory. NULL: it cannot be read, or the process is gone. */
static char *read_text(int directory, const char *name)
{
        g_autoptr(GString) text = g_string_sized_new(READ_SIZE);
        FD_AUTO int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
        gsize n = 0;
        ssize_t got;

        if (fd < 0)
                return NULL;
        do {
                g_string_set_size(text, n + READ_SIZE);
                got = read(fd, text->str + n, READ_SIZE);
                if (got < 0 && errno == EINTR)
                        continue;
                if (got < 0)
                        return NULL;
                n += (gsize)got;
        } while (got != 0 && n < MAX_FILE);
        g_string_truncate(text, n);
        return g_string_free(g_steal_pointer(&text), FALSE);
}

static bool status_uid(const char *status, uint32_t *ret_uid)
{
        uint32_t uids[3]; /* real, effective, saved */

        if (proc_status_numbers(status, "Uid", uids, 3) != 3)
                return false;
        *ret_uid = uids[0] == uids[1] && uids[0] == uids[2] ? uids[0] : 0;
        return true;
}

/* Is /proc that of our own namespace? In a container that sees the host's /proc, pids are those of
 * other processes. That does not change while we run. */
static bool has_own_proc(void)
{
        static enum { UNKNOWN, OWN, FOREIGN } state;
        g_autofree char *status = NULL;
        uint32_t pids[PROC_MAX_LEVELS];

        if (state == UNKNOWN) {
                status = read_text(AT_FDCWD, "/proc/self/status");
                state = status && proc_status_numbers(status, "NSpid", pids, PROC_MAX_LEVELS) == 1
                                ? OWN
                                : FOREIGN;
        }
        return state == OWN;
}

/* A file below the directory belongs to the process that has the pid now, or cannot be opened: it
 * never belongs to a later process with that pid. */
static int open_process(pid_t pid)
{
        char path[32];

        if (pid <= 0 || !has_own_proc())
                return -1;
        g_snprintf(path, sizeof(path), "/proc/%d", (int)pid);
        return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* How long the machine was suspended. Between reading two clocks we can lose the processor for
 * longer than a tick, but hardly each time. */
static int64_t suspended_ns(void)
{
        int64_t best = 0, shortest = INT64_MAX;
        int i;

        for (i = 0; i < 5; i++) {
                int64_t before = clock_ns(CLOCK_MONOTONIC), boot = clock_ns(CLOCK_BOOTTIME);
                int64_t took = clock_ns(CLOCK_MONOTONIC) - before;

                if (took < shortest) {
                        shortest = took;
                        best = boot - before;
                }
        }
        return best;
}

static uint64_t read_start(int directory)
{
        g_autofree char *text = read_text(directory, "stat");
        ProcStat stat;
        int64_t start;

        if (!text || !proc_stat_parse(text, &stat))
                return 0;
        /* The ticks count from the boot, including the time for which the machine was suspended. */
        start = (int64_t)stat.start_ticks * (1000000000 / sysconf(_SC_CLK_TCK)) - suspended_ns();
        return start > 0 ? (uint64_t)start : 1;
}

/* The status of PID, if that is a process and not a thread; else NULL. */
static char *read_status(int directory, pid_t pid)
{
        g_autofree char *status = read_text(directory, "status");
        uint32_t leader;

        if (!status || proc_status_numbers(status, "Tgid", &leader, 1) != 1 ||
            leader != (uint32_t)pid)
                return NULL;
        return g_steal_pointer(&status);
}

/* The namespaces from the process's own up to ours. False: no permission. */
static bool read_namespaces(int directory, ProcInfo *info)
{
        uint64_t own = proc_own_pid_ns();
        FD_AUTO int ns = -1;
        struct stat st;
        unsigned i;

        /* No permission is needed for a process of our own namespace. */
        info->levels[0].pid_ns = own;
        if (info->n_levels == 1)
                return true;
        ns = openat(directory, "ns/pid", O_RDONLY | O_CLOEXEC);
        for (i = info->n_levels; ns >= 0 && fstat(ns, &st) == 0;) {
                int parent;

                info->levels[--i].pid_ns = st.st_ino;
                if (i == 0)
                        return st.st_ino == own;
                parent = ioctl(ns, NS_GET_PARENT);
                close(ns);
                ns = parent;
        }
        return false;
}

bool proc_read(pid_t pid, ProcInfo *ret_info)
{
        FD_AUTO int directory = open_process(pid);
        g_autofree char *status = directory >= 0 ? read_status(directory, pid) : NULL;
        ProcInfo info = {.host_pid = pid};
        uint32_t pids[PROC_MAX_LEVELS];
        unsigned i;

        if (!status || !status_uid(status, &info.uid))
                return false;
        info.n_levels = proc_status_numbers(status, "NSpid", pids, PROC_MAX_LEVELS);
        for (i = 0; i < info.n_levels; i++)
                info.levels[i].pid = (int32_t)pids[i];
        if (info.n_levels == 0 || !read_namespaces(directory, &info))
                return false;
        info.start = read_start(directory);
        if (info.start == 0)
                return false;
        *ret_info = info;
        return true;
}

uint64_t proc_own_pid_ns(void)
{
        struct stat st;

        return stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
}

bool proc_is_same_start(uint64_t a, uint64_t b)
{
        uint64_t tick = 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);

        return (a > b ? a - b : b - a) < tick / 2;
}

uint64_t proc_start_time(int32_t pid)
{
        FD_AUTO int directory = open_process(pid);

        return directory >= 0 ? read_start(directory) : 0;
}

bool proc_uid(int32_t pid, uint32_t *ret_uid)
{
        FD_AUTO int directory = open_process(pid);
        g_autofree char *status = directory >= 0 ? read_status(directory, pid) : NULL;

        return status && status_uid(status, ret_uid);
}

bool proc_identify(int32_t pid, uint64_t *ret_start_ticks, uint32_t *ret_uid)
{
        FD_AUTO int directory = open_process(pid);
        g_autofree char *text = directory >= 0 ? read_text(directory, "stat") : NULL;
        g_autofree char *status = text ? read_status(directory, pid) : NULL;
        ProcStat stat;
        uint32_t uid;

        if (!status || !proc_stat_parse(text, &stat) || !status_uid(status, &uid))
                return false;
        *ret_start_ticks = stat.start_ticks;
        *ret_uid = uid;
        return true;
}

bool proc_has_ended(int pidfd)
{
        struct pollfd fd = {.fd = pidfd, .events = POLLIN};

        return poll(&fd, 1, 0) != 0;
}

/* The clock of the process's time namespace minus that of the first one. 0 before Linux 5.6. */
static int64_t proc_clock_offset(const char *pid)
{
        g_autofree char *path = g_strdup_printf("/proc/%s/timens_offsets", pid), *text = NULL;
        const char *line;
        gint64 seconds, ns;

        if (!g_file_get_contents(path, &text, NULL, NULL))
                return 0;
        line = strstr(text, "monotonic");
        return line && sscanf(line, "monotonic %" G_GINT64_FORMAT " %" G_GINT64_FORMAT, &seconds,
                              &ns) == 2
                       ? seconds * INT64_C(1000000000) + ns
                       : 0;
}

int64_t proc_own_clock_ahead(void)
{
        return proc_clock_offset("self");
}

int64_t proc_clock_ahead(pid_t pid)
{
        g_autofree char *text = g_strdup_printf("%d", (int)pid);

        return proc_clock_offset(text) - proc_own_clock_ahead();
}

char *proc_command(pid_t pid)
{
        g_autofree char *path = g_strdup_printf("/proc/%d/cmdline", (int)pid);
        FD_AUTO int fd = open(path, O_RDONLY | O_CLOEXEC);
        char text[MAX_COMMAND];
        ssize_t n = fd >= 0 ? read(fd, text, sizeof(text)) : 0, i;

        while (n > 0 && !text[n - 1])
                n--;
        for (i = 0; i < n; i++)
                if (!text[i])
                        text[i] = ' ';
        return n > 0 ? g_utf8_make_valid(text, n) : NULL;
}

char *proc_read_file(pid_t pid, const char *name, size_t max, size_t *ret_n)
{
        g_autofree char *path = g_strdup_printf("/proc/%d/%s", (int)pid, name);
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        FD_AUTO int fd = open(path, O_RDONLY | O_CLOEXEC);
        uint8_t buffer[64 << 10];
        ssize_t n;

        if (fd < 0)
                return NULL;
        while ((n = read(fd, buffer, sizeof(buffer))) != 0) {
                if (n < 0 && errno != EINTR)
                        return NULL;
                if (n > 0)
                        g_byte_array_append(bytes, buffer, (guint)n);
                if (bytes->len > max) {
                        errno = EFBIG;
                        return NULL;
                }
        }
        *ret_n = bytes->len;
        g_byte_array_append(bytes, (const uint8_t *)"", 1);
        return (char *)g_byte_array_free(g_steal_pointer(&bytes), FALSE);
}

char *proc_thread_name(pid_t pid, pid_t tid)
{
        g_autofree char *file = g_strdup_printf("task/%d/comm", (int)tid);
        size_t n;
        char *name = proc_read_file(pid, file, MAX_THREAD_NAME, &n);

        return name ? g_strchomp(name) : NULL;
}
