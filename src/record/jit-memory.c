/* SPDX-License-Identifier: MIT */
#include "record/jit-memory.h"

#include "record/code-copy.h"
#include "util/cpu-share.h"
#include "util/fd.h"
#include "util/proc.h"
#include "util/rootfs.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* The runtime's name of the file, in links of /proc. */
#define FILE_NAME "/memfd:doublemapper"

/* us: the shortest time between two copies of a process. */
#define COPY_INTERVAL (G_TIME_SPAN_SECOND / 10)
/* ns of CPU for the copies of a process after a pause; and the part of the elapsed time that all
 * copies may use. */
#define COPY_BURST 20000000
#define COPY_PART  50
/* Bytes of all copies. */
#define MAX_COPIES (UINT64_C(256) << 20)

/* Several JitMemorys can have it. */
typedef struct MemoryFile {
        int fd;       /* owned */
        GArray *code; /* owned, of MomentCode: the parts that the file has; NULL: it is the
                       * runtime's file */
        JitMemorySpan span;
        uint64_t n_copied; /* bytes of a copy; 0: it is none */
} MemoryFile;

typedef struct JitProcess {
        uint64_t start;   /* see proc_start_time(); 0: not of a process that ran */
        ProcessKey key;   /* in its own pid namespace; pid 0: that is ours */
        gint64 next;      /* us of CLOCK_MONOTONIC: the next copy; G_MAXINT64: none */
        CpuShare share;   /* of its copies */
        MemoryFile *file; /* a reference; NULL: none */
} JitProcess;

struct JitMemory {
        GHashTable *processes; /* owned: pid -> owned JitProcess */
};

static void memory_file_clear(void *data)
{
        MemoryFile *file = data;

        close(file->fd);
        g_clear_pointer(&file->code, g_array_unref);
}

static void memory_file_unref(MemoryFile *file)
{
        g_atomic_rc_box_release_full(file, memory_file_clear);
}

/* FILE's descriptor and code are taken over. */
static void process_set_file(JitProcess *process, const MemoryFile *file)
{
        g_clear_pointer(&process->file, memory_file_unref);
        process->file = g_atomic_rc_box_new(MemoryFile);
        *process->file = *file;
}

static void process_free(void *data)
{
        JitProcess *process = data;

        g_clear_pointer(&process->file, memory_file_unref);
        g_free(process);
}

JitMemory *jit_memory_new(void)
{
        JitMemory *memory = g_new0(JitMemory, 1);

        memory->processes = g_hash_table_new_full(NULL, NULL, NULL, process_free);
        return memory;
}

void jit_memory_free(JitMemory *memory)
{
        if (!memory)
                return;
        g_hash_table_unref(memory->processes);
        g_free(memory);
}

static JitProcess *memory_process(const JitMemory *memory, pid_t pid)
{
        return memory ? g_hash_table_lookup(memory->processes, GINT_TO_POINTER(pid)) : NULL;
}

static const MemoryFile *memory_file(const JitMemory *memory, pid_t pid)
{
        const JitProcess *process = memory_process(memory, pid);

        return process ? process->file : NULL;
}

static JitProcess *memory_add(JitMemory *memory, pid_t pid)
{
        JitProcess *process = g_new0(JitProcess, 1);

        process->next = G_MAXINT64;
        g_hash_table_insert(memory->processes, GINT_TO_POINTER(pid), process);
        return process;
}

/* True if PROCESS can have a file. */
static bool memory_has_room(const JitMemory *memory, const JitProcess *process)
{
        GHashTableIter iter;
        gpointer other;
        guint n = 0;

        g_hash_table_iter_init(&iter, memory->processes);
        while (g_hash_table_iter_next(&iter, NULL, &other))
                n += ((const JitProcess *)other)->file != NULL;
        return process->file || n < JIT_MEMORY_MAX;
}

/* True if the entry of a directory of descriptors is the runtime's file. By its name. */
static bool descriptor_is_memory(int directory, const char *name)
{
        char target[sizeof(FILE_NAME)];
        const ssize_t n = readlinkat(directory, name, target, sizeof(target) - 1);

        return n == (ssize_t)sizeof(target) - 1 && !memcmp(target, FILE_NAME, (size_t)n);
}

/* A descriptor of the target of PATH, if it is a file in memory without a directory; else -1. A
 * process can give this name to other files, and reading them might not end. */
static int memory_open(const char *path)
{
        FD_AUTO int found = rootfs_find_linked(path);
        struct statfs system;
        struct stat status;

        if (found < 0 || fstatfs(found, &system) < 0 || system.f_type != TMPFS_MAGIC ||
            fstat(found, &status) < 0 || status.st_nlink != 0)
                return -1;
        return rootfs_open_found(found);
}

/* A descriptor of the runtime's file; -1: process PID has none, or it cannot be opened. */
static int memory_find(pid_t pid)
{
        g_autofree char *path = g_strdup_printf("/proc/%d/fd", (int)pid);
        DIR *directory = opendir(path);
        const struct dirent *entry;
        int fd = -1;

        while (fd < 0 && directory && (entry = readdir(directory)))
                if (descriptor_is_memory(dirfd(directory), entry->d_name)) {
                        g_autofree char *link = g_build_filename(path, entry->d_name, NULL);

                        fd = memory_open(link);
                }
        if (directory)
                closedir(directory);
        return fd;
}

static bool process_has_runtimes_file(const JitProcess *process)
{
        return process->file && !process->file->code;
}

/* True if the runtime's file of process PID is kept. */
static bool process_keep_file(JitProcess *process, pid_t pid)
{
        const int fd = process_has_runtimes_file(process) ? -1 : memory_find(pid);

        if (fd >= 0)
                process_set_file(process, &(MemoryFile){.fd = fd});
        return process_has_runtimes_file(process);
}

static void process_keep_key(JitProcess *process, pid_t pid)
{
        ProcInfo info;

        process->start = proc_start_time(pid);
        process->next = g_get_monotonic_time() + COPY_INTERVAL;
        if (proc_read(pid, &info) && info.n_levels > 1)
                process->key = info.levels[info.n_levels - 1];
}

void jit_memory_keep(JitMemory *memory, pid_t pid)
{
        JitProcess *process = memory_process(memory, pid);

        if (memory && !process) {
                process = memory_add(memory, pid);
                process_keep_key(process, pid);
        }
        if (process && memory_has_room(memory, process) && process_keep_file(process, pid))
                process->next = G_MAXINT64;
}

static bool process_maps(pid_t pid, uint64_t address)
{
        g_autoptr(Moment) moment = moment_new(pid);
        bool is_found = false;
        guint i;

        moment_read_maps(moment);
        for (i = 0; i < moment->mappings->len && !is_found; i++) {
                const MomentMapping *mapping = &g_array_index(moment->mappings, MomentMapping, i);

                is_found = address >= mapping->begin && address < mapping->end;
        }
        return is_found;
}

static uint64_t memory_copied_bytes(const JitMemory *memory)
{
        GHashTableIter iter;
        gpointer value;
        uint64_t n = 0;

        g_hash_table_iter_init(&iter, memory->processes);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                const MemoryFile *file = ((const JitProcess *)value)->file;

                n += file ? file->n_copied : 0;
        }
        return n;
}

static bool process_runs(const JitProcess *process, pid_t pid)
{
        const uint64_t start = proc_start_time(pid);

        return start && proc_is_same_start(start, process->start);
}

/* Replaces the copy of the code. False: no further copies, because the process has ended, or the
 * runtime's file is kept now. */
static bool memory_copy(const JitMemory *memory, JitProcess *process, pid_t pid)
{
        CodeCopy copy;

        if (!memory_has_room(memory, process))
                return process_runs(process, pid);
        if (process_keep_file(process, pid))
                return false;
        if (memory_copied_bytes(memory) > MAX_COPIES - CODE_COPY_MAX || !code_copy_make(pid, &copy))
                return process_runs(process, pid);
        if (!process_runs(process, pid)) {
                code_copy_deinit(&copy);
                return false;
        }
        process_set_file(process,
                         &(MemoryFile){copy.fd, copy.code, {copy.begin, copy.end}, copy.n});
        return true;
}

void jit_memory_copy(JitMemory *memory, bool is_last)
{
        const int64_t part = (int64_t)COPY_PART * g_hash_table_size(memory->processes);
        const gint64 now = g_get_monotonic_time();
        GHashTableIter iter;
        gpointer pid, value;

        g_hash_table_iter_init(&iter, memory->processes);
        while (g_hash_table_iter_next(&iter, &pid, &value)) {
                JitProcess *process = value;

                if (process->next == G_MAXINT64 || (!is_last && now < process->next))
                        continue;
                if (!cpu_share_begin(&process->share, COPY_BURST, part) && !is_last)
                        continue;
                process->next = memory_copy(memory, process, GPOINTER_TO_INT(pid))
                                        ? now + COPY_INTERVAL
                                        : G_MAXINT64;
                cpu_share_end(&process->share);
        }
}

void jit_memory_keep_recorded(JitMemory *memory, pid_t pid, uint64_t address, uint64_t time)
{
        const uint64_t start = proc_start_time(pid);
        JitProcess *process;

        /* A process of another pid namespace can have the same pid. */
        if (start && start <= time + (uint64_t)proc_own_clock_ahead() && process_maps(pid, address))
                jit_memory_keep(memory, pid);
        process = memory_process(memory, pid);
        if (!process)
                process = memory_add(memory, pid);
        else if (process->next != G_MAXINT64)
                memory_copy(memory, process, pid);
        process->next = G_MAXINT64;
}

JitMemory *jit_memory_part(JitMemory *memory)
{
        JitMemory *part = jit_memory_new();
        GHashTableIter iter;
        gpointer pid, value;

        jit_memory_copy(memory, /* is_last= */ true);
        g_hash_table_iter_init(&iter, memory->processes);
        while (g_hash_table_iter_next(&iter, &pid, &value)) {
                const JitProcess *process = value;
                JitProcess *shared = g_memdup2(process, sizeof(*process));

                if (shared->file)
                        g_atomic_rc_box_acquire(shared->file);
                g_hash_table_insert(part->processes, pid, shared);
                if (!process_runs(process, GPOINTER_TO_INT(pid)))
                        g_hash_table_iter_remove(&iter);
        }
        return part;
}

ProcessKey jit_memory_key(const JitMemory *memory, pid_t pid)
{
        const JitProcess *process = memory_process(memory, pid);

        return process && process->key.pid ? process->key : (ProcessKey){.pid = pid};
}

bool jit_memory_has(const JitMemory *memory, pid_t pid)
{
        return memory_file(memory, pid) != NULL;
}

bool jit_memory_is_lost(const JitMemory *memory, pid_t pid)
{
        const JitProcess *process = memory_process(memory, pid);

        return process && !process->file;
}

void jit_memory_keep_code(JitMemory *memory, const Moment *moment, int fd)
{
        JitProcess *process = memory_process(memory, moment->pid);
        const int own = moment->code->len ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;

        if (own < 0)
                return;
        if (!process)
                process = memory_add(memory, moment->pid);
        process_set_file(process, &(MemoryFile){.fd = own, .code = g_array_ref(moment->code)});
}

JitMemorySpan jit_memory_span(const JitMemory *memory, pid_t pid)
{
        const MemoryFile *file = memory_file(memory, pid);

        return file ? file->span : (JitMemorySpan){.begin = 0};
}

/* The place in FILE of N bytes at OFFSET of the runtime's file; UINT64_MAX: missing. */
static uint64_t memory_place(const MemoryFile *file, uint64_t offset, size_t n)
{
        guint i;

        if (!file->code)
                return offset;
        for (i = 0; i < file->code->len; i++) {
                const MomentCode *code = &g_array_index(file->code, MomentCode, i);

                if (offset >= code->offset && offset - code->offset < code->n &&
                    n <= code->n - (offset - code->offset))
                        return code->place + (offset - code->offset);
        }
        return UINT64_MAX;
}

bool jit_memory_read(const JitMemory *memory, pid_t pid, uint64_t offset, void *ret, size_t n)
{
        const MemoryFile *file = memory_file(memory, pid);
        const uint64_t place = file ? memory_place(file, offset, n) : UINT64_MAX;

        return place <= INT64_MAX && n <= SSIZE_MAX &&
               pread(file->fd, ret, n, (off_t)place) == (ssize_t)n;
}
