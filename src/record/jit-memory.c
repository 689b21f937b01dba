/* SPDX-License-Identifier: MIT */
#include "record/jit-memory.h"

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

typedef struct MemoryFile {
        int fd;       /* owned */
        GArray *code; /* owned, of MomentCode: the parts that the file has; NULL: it is the
                       * runtime's file */
} MemoryFile;

struct JitMemory {
        GHashTable *files; /* owned: pid -> owned MemoryFile */
        GHashTable *keys;  /* owned: pid -> owned ProcessKey, of other pid namespaces than ours */
};

static void memory_close(void *data)
{
        MemoryFile *file = data;

        close(file->fd);
        g_clear_pointer(&file->code, g_array_unref);
        g_free(file);
}

static void memory_add(JitMemory *memory, pid_t pid, int fd, GArray *code)
{
        const MemoryFile file = {fd, code};

        g_hash_table_insert(memory->files, GINT_TO_POINTER(pid), g_memdup2(&file, sizeof(file)));
}

JitMemory *jit_memory_new(void)
{
        JitMemory *memory = g_new0(JitMemory, 1);

        memory->files = g_hash_table_new_full(NULL, NULL, NULL, memory_close);
        memory->keys = g_hash_table_new_full(NULL, NULL, NULL, g_free);
        return memory;
}

void jit_memory_free(JitMemory *memory)
{
        if (!memory)
                return;
        g_hash_table_unref(memory->files);
        g_hash_table_unref(memory->keys);
        g_free(memory);
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

static void memory_keep_key(JitMemory *memory, pid_t pid)
{
        ProcInfo info;

        if (g_hash_table_size(memory->keys) < JIT_MEMORY_MAX && proc_read(pid, &info) &&
            info.n_levels > 1)
                g_hash_table_replace(
                        memory->keys, GINT_TO_POINTER(pid),
                        g_memdup2(&info.levels[info.n_levels - 1], sizeof(ProcessKey)));
}

ProcessKey jit_memory_key(const JitMemory *memory, pid_t pid)
{
        const ProcessKey *key =
                memory ? g_hash_table_lookup(memory->keys, GINT_TO_POINTER(pid)) : NULL;

        return key ? *key : (ProcessKey){.pid = pid};
}

void jit_memory_keep(JitMemory *memory, pid_t pid)
{
        g_autofree char *path = g_strdup_printf("/proc/%d/fd", (int)pid);
        const struct dirent *entry;
        DIR *directory;
        int fd = -1;

        if (!memory || g_hash_table_size(memory->files) >= JIT_MEMORY_MAX ||
            g_hash_table_contains(memory->files, GINT_TO_POINTER(pid)))
                return;
        memory_keep_key(memory, pid);
        directory = opendir(path);
        while (fd < 0 && directory && (entry = readdir(directory)))
                if (descriptor_is_memory(dirfd(directory), entry->d_name)) {
                        g_autofree char *link = g_build_filename(path, entry->d_name, NULL);

                        fd = memory_open(link);
                }
        if (fd >= 0)
                memory_add(memory, pid, fd, NULL);
        if (directory)
                closedir(directory);
}

bool jit_memory_has(const JitMemory *memory, pid_t pid)
{
        return g_hash_table_contains(memory->files, GINT_TO_POINTER(pid));
}

void jit_memory_keep_code(JitMemory *memory, const Moment *moment, int fd)
{
        const int own = moment->code->len ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;

        if (own >= 0)
                memory_add(memory, moment->pid, own, g_array_ref(moment->code));
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
        const MemoryFile *file = g_hash_table_lookup(memory->files, GINT_TO_POINTER(pid));
        const uint64_t place = file ? memory_place(file, offset, n) : UINT64_MAX;

        return place <= INT64_MAX && n <= SSIZE_MAX &&
               pread(file->fd, ret, n, (off_t)place) == (ssize_t)n;
}
