/* SPDX-License-Identifier: MIT */
#include "attach/processes.h"

#include "util/fd.h"
#include "util/libc-extras.h"
#include "util/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/*
 * The runtime; and its memory for code, which has a second, writable mapping unless
 * DOTNET_EnableWriteXorExecute=0. That mapping reveals a runtime in a single-file program.
 */
static const char RUNTIME[] = "/libcoreclr.so", DOUBLE_MAPPED[] = "/memfd:doublemapper";

/* Bytes of one read, and of the text kept before them, where a name may have begun. */
#define READ_SIZE (64u << 10)
#define KEPT      (sizeof(DOUBLE_MAPPED) - 1)

/* Searches during the read: an early match saves the rest. */
static ProcessKind process_kind_by_maps(pid_t pid)
{
        const gint64 deadline = g_get_monotonic_time() + PROCESSES_READ_LIMIT;
        g_autofree char *path = g_strdup_printf("/proc/%d/maps", (int)pid);
        g_autofree char *text = g_malloc(KEPT + READ_SIZE + 1);
        FD_AUTO int fd = open(path, O_RDONLY | O_CLOEXEC);
        size_t n_kept = 0, n_all = 0;
        ssize_t n;

        if (fd < 0)
                return errno == EACCES || errno == EPERM ? PROCESS_HIDDEN : PROCESS_OTHER;
        while ((n = read(fd, text + n_kept, READ_SIZE)) > 0) {
                const size_t n_text = n_kept + (size_t)n;

                text[n_text] = '\0';
                if (strstr(text, RUNTIME) || strstr(text, DOUBLE_MAPPED))
                        return PROCESS_WANTED;
                n_all += (size_t)n;
                if (n_all > PROC_MAX_MAPS || g_get_monotonic_time() >= deadline)
                        return PROCESS_OTHER;
                n_kept = MIN(n_text, KEPT);
                memmove(text, text + n_text - n_kept, n_kept);
        }
        return PROCESS_OTHER;
}

ProcessKind process_kind(pid_t pid, uid_t uid, const ProcessFilter *filter)
{
        FD_AUTO int process = pidfd_open(pid, 0);
        ProcessKind kind;
        uint32_t owner;

        if (process < 0 || !proc_uid(pid, &owner) || (uid != PROCESSES_ANY_USER && uid != owner))
                return PROCESS_OTHER;
        kind = process_kind_by_maps(pid);
        if (kind == PROCESS_OTHER || (filter && process_filter_excludes(filter, pid, owner)))
                return PROCESS_OTHER;
        /* If the process still runs, no other process had its pid meanwhile. */
        return proc_has_ended(process) ? PROCESS_OTHER : kind;
}

static int pid_compare(const void *a, const void *b)
{
        const pid_t left = *(const pid_t *)a, right = *(const pid_t *)b;

        return (left > right) - (left < right);
}

GArray *processes_find(uid_t uid, const ProcessFilter *filter, unsigned *ret_n_hidden)
{
        g_autoptr(GDir) proc = g_dir_open("/proc", 0, NULL);
        GArray *pids = g_array_new(FALSE, FALSE, sizeof(pid_t));
        unsigned n_hidden = 0;
        const char *name;

        while (proc && (name = g_dir_read_name(proc))) {
                pid_t pid = (pid_t)g_ascii_strtoll(name, NULL, 10);
                ProcessKind kind =
                        g_ascii_isdigit(*name) ? process_kind(pid, uid, filter) : PROCESS_OTHER;

                if (kind == PROCESS_WANTED)
                        g_array_append_val(pids, pid);
                n_hidden += kind == PROCESS_HIDDEN;
        }
        g_array_sort(pids, pid_compare);
        *ret_n_hidden = n_hidden;
        return pids;
}
