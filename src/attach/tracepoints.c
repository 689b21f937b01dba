/* SPDX-License-Identifier: MIT */
#include "attach/tracepoints.h"

#include "util/elf-file.h"
#include "util/fd.h"
#include "util/rootfs.h"

#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define CORECLR "/libcoreclr.so"
/* plugins/tracepoints: connects the tracepoints in the process. */
#define CURE "/libclrsym-tracepoints.so"

const char *const TRACEPOINTS_LOST_REASON =
        "its libcoreclr.so has lost the table that connects its tracepoints (.NET 11.0.0): lttng "
        "list -u shows the tracepoints, but LTTng gets no events from them";

/* The table and the pointers to it, with lttng-ust to 2.12 and from 2.13 on. */
static const struct {
        const char *table, *pointers;
} SECTIONS[] = {
        {"__tracepoints", "__tracepoints_ptrs"},
        {"lttng_ust_tracepoints", "lttng_ust_tracepoints_ptrs"},
};

Tracepoints tracepoints_of_file(int fd)
{
        Tracepoints found = TRACEPOINTS_NONE;
        ElfFile file;
        size_t i;

        if (!elf_file_open(&file, fd))
                return TRACEPOINTS_UNKNOWN;
        for (i = 0; i < G_N_ELEMENTS(SECTIONS) && found == TRACEPOINTS_NONE; i++)
                if (elf_file_section(&file, SECTIONS[i].table))
                        found = elf_file_section(&file, SECTIONS[i].pointers)
                                        ? TRACEPOINTS_CONNECTED
                                        : TRACEPOINTS_LOST;
        elf_file_close(&file);
        return found;
}

/* The line of MAPS that ends with the file NAME; NULL: no such line. */
static char *maps_find_line(const char *maps, const char *name)
{
        const char *at, *begin, *end;

        for (at = maps; (at = strstr(at, name)); at++) {
                end = at + strlen(name);
                if (*end != '\n' && *end && !g_str_has_prefix(end, " (deleted)"))
                        continue;
                for (begin = at; begin > maps && begin[-1] != '\n'; begin--)
                        ;
                return g_strndup(begin, (gsize)(end - begin));
        }
        return NULL;
}

/* Opens the file PATH below ROOT, if it has that inode. */
static int library_open(int root, const char *path, uint64_t inode)
{
        FD_AUTO int found = root >= 0 ? rootfs_find(root, path) : -1;
        struct stat st;

        return found >= 0 && fstat(found, &st) == 0 && st.st_ino == inode ? rootfs_open_found(found)
                                                                          : -1;
}

Tracepoints tracepoints_of_process(pid_t pid, const char *maps)
{
        g_autofree char *line = maps_find_line(maps, CORECLR);
        FD_AUTO int root = -1, own_root = -1, fd = -1;
        uint64_t inode;
        int n = 0;

        if (strstr(maps, CURE))
                return TRACEPOINTS_CONNECTED;
        if (!line || sscanf(line, "%*x-%*x %*s %*x %*x:%*x %" SCNu64 " %n", &inode, &n) != 1 || !n)
                return line ? TRACEPOINTS_UNKNOWN : TRACEPOINTS_NONE;
        root = rootfs_open_root(pid);
        fd = library_open(root, line + n, inode);
        /* If only its root directory is another one, the path is valid in ours. */
        if (fd < 0) {
                own_root = rootfs_open_root(0);
                fd = library_open(own_root, line + n, inode);
        }
        return fd < 0 ? TRACEPOINTS_UNKNOWN : tracepoints_of_file(fd);
}
