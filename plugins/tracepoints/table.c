/* SPDX-License-Identifier: MIT */
#include "tracepoints/table.h"

#include "util/elf-file.h"

#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CORECLR         "/libcoreclr.so"
#define PROVIDER        "DotNET"
#define TRACEPOINT_SIZE 56
/* Limit: a runtime has 447. */
#define MAX_TRACEPOINTS 16384

/* The libcoreclr.so of this process. */
typedef struct Coreclr {
        const char *path;
        uintptr_t base;
        const ElfW(Phdr) * segments;
        unsigned n_segments;
} Coreclr;

static int coreclr_take(struct dl_phdr_info *info, size_t size, void *data)
{
        Coreclr *coreclr = data;
        const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;

        if (!slash || strcmp(slash, CORECLR) != 0)
                return 0;
        *coreclr = (Coreclr){info->dlpi_name, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum};
        return 1;
}

/* True if a readable segment has the N bytes at AT; IS_WRITTEN: a writable segment. */
static bool coreclr_has(const Coreclr *coreclr, uintptr_t at, size_t n, bool is_written)
{
        unsigned i;

        for (i = 0; i < coreclr->n_segments; i++) {
                const ElfW(Phdr) *segment = &coreclr->segments[i];
                const uintptr_t begin = coreclr->base + segment->p_vaddr;

                if (segment->p_type == PT_LOAD && (segment->p_flags & PF_R) &&
                    (!is_written || (segment->p_flags & PF_W)) && at >= begin &&
                    at - begin <= segment->p_memsz && n <= segment->p_memsz - (at - begin))
                        return true;
        }
        return false;
}

/* True if a tracepoint of the runtime is at AT. */
static bool coreclr_has_tracepoint(const Coreclr *coreclr, const char *at, TableLayout layout)
{
        const char *name;
        uint32_t size;

        memcpy(&size, at, sizeof(size));
        if (layout == TABLE_SIZE_FIRST && size != TRACEPOINT_SIZE)
                return false;
        memcpy(&name, at + (layout == TABLE_SIZE_FIRST ? sizeof(void *) : 0), sizeof(name));
        return coreclr_has(coreclr, (uintptr_t)name, sizeof(PROVIDER), false) &&
               !strncmp(name, PROVIDER, strlen(PROVIDER));
}

static void **coreclr_make_table(const Coreclr *coreclr, const Elf64_Shdr *section,
                                 TableLayout layout, size_t *ret_n)
{
        char *at = (char *)(coreclr->base + section->sh_addr);
        const size_t n = section->sh_size / TRACEPOINT_SIZE;
        void **table;
        size_t i;

        if (!n || n > MAX_TRACEPOINTS || section->sh_size % TRACEPOINT_SIZE ||
            !coreclr_has(coreclr, (uintptr_t)at, section->sh_size, true))
                return NULL;
        table = malloc(n * sizeof(*table));
        for (i = 0; table && i < n; i++, at += TRACEPOINT_SIZE) {
                table[i] = at;
                if (!coreclr_has_tracepoint(coreclr, at, layout)) {
                        free(table);
                        return NULL;
                }
        }
        *ret_n = n;
        return table;
}

void **table_make(const char *section, const char *pointers, TableLayout layout, size_t *ret_n)
{
        const Elf64_Shdr *found;
        Coreclr coreclr;
        void **table = NULL;
        ElfFile file;
        int fd;

        if (!dl_iterate_phdr(coreclr_take, &coreclr))
                return NULL;
        /* The headers of sections are in the file only, not in memory. */
        fd = open(coreclr.path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return NULL;
        if (elf_file_open(&file, fd)) {
                found = elf_file_section(&file, section);
                if (found && !elf_file_section(&file, pointers))
                        table = coreclr_make_table(&coreclr, found, layout, ret_n);
                elf_file_close(&file);
        }
        close(fd);
        return table;
}
