/* SPDX-License-Identifier: MIT */
#include "record/jit-memory.h"

#include "util/fd.h"
#include "util/rootfs.h"

#include <dirent.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* What the runtime calls the file, as links of /proc have it. */
#define FILE_NAME "/memfd:doublemapper"

struct JitMemory {
        GHashTable *files; /* owned: pid -> descriptor, owned */
};

static void memory_close(void *data)
{
        close(GPOINTER_TO_INT(data));
}

JitMemory *jit_memory_new(void)
{
        JitMemory *memory = g_new0(JitMemory, 1);

        memory->files = g_hash_table_new_full(NULL, NULL, NULL, memory_close);
        return memory;
}

void jit_memory_free(JitMemory *memory)
{
        if (!memory)
                return;
        g_hash_table_unref(memory->files);
        g_free(memory);
}

/* Is the entry of a directory of descriptors the runtime's file? By its name. */
static bool descriptor_is_memory(int directory, const char *name)
{
        char target[sizeof(FILE_NAME)];
        const ssize_t n = readlinkat(directory, name, target, sizeof(target) - 1);

        return n == (ssize_t)sizeof(target) - 1 && !memcmp(target, FILE_NAME, (size_t)n);
}

/* A descriptor of the file that PATH leads to, if it is one in memory and in no directory; else -1.
 * A process can name other files so, whose reading may not end. */
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

void jit_memory_keep(JitMemory *memory, pid_t pid)
{
        g_autofree char *path = g_strdup_printf("/proc/%d/fd", (int)pid);
        const struct dirent *entry;
        DIR *directory;
        int fd = -1;

        if (!memory || g_hash_table_size(memory->files) >= JIT_MEMORY_MAX ||
            g_hash_table_contains(memory->files, GINT_TO_POINTER(pid)))
                return;
        directory = opendir(path);
        while (fd < 0 && directory && (entry = readdir(directory)))
                if (descriptor_is_memory(dirfd(directory), entry->d_name)) {
                        g_autofree char *link = g_build_filename(path, entry->d_name, NULL);

                        fd = memory_open(link);
                }
        if (fd >= 0)
                g_hash_table_insert(memory->files, GINT_TO_POINTER(pid), GINT_TO_POINTER(fd));
        if (directory)
                closedir(directory);
}

bool jit_memory_has(const JitMemory *memory, pid_t pid)
{
        return g_hash_table_contains(memory->files, GINT_TO_POINTER(pid));
}

bool jit_memory_read(const JitMemory *memory, pid_t pid, uint64_t offset, void *ret, size_t n)
{
        gpointer fd;

        return offset <= INT64_MAX && n <= SSIZE_MAX &&
               g_hash_table_lookup_extended(memory->files, GINT_TO_POINTER(pid), NULL, &fd) &&
               pread(GPOINTER_TO_INT(fd), ret, n, (off_t)offset) == (ssize_t)n;
}
