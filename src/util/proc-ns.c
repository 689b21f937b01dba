/* SPDX-License-Identifier: MIT */
#include "util/proc-ns.h"

#include "util/cpu-share.h"
#include "util/proc.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

/* Guesses; untuned. A scan takes 10 us a process, 60 us for one of another namespace. */
#define MAX_SCANNED 65536
#define SCAN_SHARE  10
#define SCAN_BURST  (200 * INT64_C(1000000)) /* ns of CPU */

/* The processes of other namespaces in the last scan. Only a hint: each is read again before it is
 * used, so reused pids and inodes do no harm. */
static struct {
        GHashTable *hosts; /* owned ProcessKey -> host pid; for each level of a process but ours */
        bool is_complete;  /* it has all processes that we can see */
        CpuShare share;    /* of scans */
} seen;

/* False: it cannot be read. */
static bool proc_ns_see(pid_t pid)
{
        ProcInfo info;
        unsigned i;

        if (!proc_read(pid, &info))
                return false;
        for (i = 1; i < info.n_levels; i++)
                g_hash_table_replace(seen.hosts, g_memdup2(&info.levels[i], sizeof(ProcessKey)),
                                     GINT_TO_POINTER(pid));
        return true;
}

/* A process of PROC, if it is of another namespace. False: it exists, and cannot be read. */
static bool scan_process(int proc, const char *name, uint64_t own)
{
        char path[NAME_MAX + 8];
        struct stat st;

        /* Most are of our own namespace, which this check shows at a sixth of the cost. */
        g_snprintf(path, sizeof(path), "%s/ns/pid", name);
        if (fstatat(proc, path, &st, 0) == 0 && st.st_ino == own)
                return true;
        return proc_ns_see((pid_t)g_ascii_strtoll(name, NULL, 10)) ||
               faccessat(proc, name, F_OK, 0) < 0;
}

static void proc_ns_scan(void)
{
        uint64_t own = proc_own_pid_ns();
        DIR *proc = opendir("/proc");
        const struct dirent *entry;
        unsigned n = 0;

        if (seen.hosts)
                g_hash_table_remove_all(seen.hosts);
        else
                seen.hosts =
                        g_hash_table_new_full(process_key_hash, process_key_equal, g_free, NULL);
        seen.is_complete = proc != NULL;
        while (proc && n < MAX_SCANNED && (entry = readdir(proc))) {
                if (!g_ascii_isdigit(*entry->d_name))
                        continue;
                n++;
                if (!scan_process(dirfd(proc), entry->d_name, own))
                        seen.is_complete = false;
        }
        if (n == MAX_SCANNED)
                seen.is_complete = false;
        if (proc)
                closedir(proc);
}

/* Scans, unless scans have used their share of the CPU time. */
static bool scan_if_affordable(void)
{
        if (!cpu_share_begin(&seen.share, SCAN_BURST, SCAN_SHARE))
                return false;
        proc_ns_scan();
        cpu_share_end(&seen.share);
        return true;
}

/* Reads the process that was KEY in the last scan. False: it is another process now. */
static bool read_seen(const ProcessKey *key, ProcInfo *ret_info)
{
        gpointer host;
        unsigned i;

        if (!seen.hosts || !g_hash_table_lookup_extended(seen.hosts, key, NULL, &host) ||
            !proc_read(GPOINTER_TO_INT(host), ret_info))
                return false;
        for (i = 1; i < ret_info->n_levels; i++)
                if (process_key_equal(&ret_info->levels[i], key))
                        return true;
        return false;
}

/* The process with that pid in that namespace, which can be above its own namespace. */
static bool proc_ns_find(const ProcessKey *key, ProcInfo *ret_info)
{
        if (key->pid <= 0)
                return false;
        if (key->pid_ns == proc_own_pid_ns())
                return proc_read(key->pid, ret_info);
        return read_seen(key, ret_info) || (scan_if_affordable() && read_seen(key, ret_info));
}

static const ProcessKey *proc_ns_innermost(const ProcInfo *info)
{
        return &info->levels[info->n_levels - 1];
}

bool proc_find_key(pid_t asker, int32_t pid, ProcKey *ret_key)
{
        ProcInfo info;

        return proc_read(asker, &info) &&
               proc_find_key_in(proc_ns_innermost(&info)->pid_ns, pid, ret_key);
}

bool proc_find_key_in(uint64_t pid_ns, int32_t pid, ProcKey *ret_key)
{
        const ProcessKey key = {pid_ns, pid};
        ProcInfo info;

        if (!proc_ns_find(&key, &info))
                return false;
        *ret_key = (ProcKey){*proc_ns_innermost(&info), info.host_pid, info.start};
        return true;
}

bool proc_host_pid(uint64_t pid_ns, int32_t vpid, pid_t *ret_pid)
{
        ProcessKey key = {pid_ns ? pid_ns : proc_own_pid_ns(), vpid};
        ProcInfo info;

        if (!proc_ns_find(&key, &info) || !process_key_equal(proc_ns_innermost(&info), &key))
                return false;
        *ret_pid = info.host_pid;
        return true;
}

bool proc_is_gone(uint64_t pid_ns, int32_t vpid)
{
        const ProcessKey key = {pid_ns, vpid};
        ProcInfo info;

        return !read_seen(&key, &info) && scan_if_affordable() && seen.is_complete &&
               !read_seen(&key, &info);
}
