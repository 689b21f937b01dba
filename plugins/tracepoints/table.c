/* SPDX-License-Identifier: MIT */
#include "tracepoints/table.h"

#include <elf.h>
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
/* A runtime has 447. */
#define MAX_TRACEPOINTS 16384
/* Rows of sections, and bytes of their names. */
#define MAX_SECTIONS 4096
#define MAX_NAMES    (256u << 10)

/* The libcoreclr.so of this process. */
typedef struct Library {
        const char *path;
        uintptr_t base;
        const ElfW(Phdr) * segments;
        unsigned n_segments;
} Library;

static int library_take(struct dl_phdr_info *info, size_t size, void *data)
{
        Library *library = data;
        const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;

        if (!slash || strcmp(slash, CORECLR) != 0)
                return 0;
        *library = (Library){info->dlpi_name, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum};
        return 1;
}

/* Are the N bytes at AT in a segment that can be read; IS_WRITTEN: and written? */
static bool library_has(const Library *library, uintptr_t at, size_t n, bool is_written)
{
        unsigned i;

        for (i = 0; i < library->n_segments; i++) {
                const ElfW(Phdr) *segment = &library->segments[i];
                const uintptr_t begin = library->base + segment->p_vaddr;

                if (segment->p_type == PT_LOAD && (segment->p_flags & PF_R) &&
                    (!is_written || (segment->p_flags & PF_W)) && at >= begin &&
                    at - begin <= segment->p_memsz && n <= segment->p_memsz - (at - begin))
                        return true;
        }
        return false;
}

/* The headers of the sections are in the file only. */
typedef struct Sections {
        Elf64_Shdr *rows; /* owned */
        size_t n;
        char *names; /* owned, with a NUL at its end */
        size_t n_names;
} Sections;

static bool read_at(int fd, void *bytes, size_t n, uint64_t offset)
{
        return offset <= INT64_MAX && pread(fd, bytes, n, (off_t)offset) == (ssize_t)n;
}

static bool sections_read(Sections *sections, int fd)
{
        const Elf64_Shdr *names;
        Elf64_Ehdr header;

        if (!read_at(fd, &header, sizeof(header), 0) ||
            memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
            header.e_ident[EI_CLASS] != ELFCLASS64 ||
            header.e_shentsize != sizeof(*sections->rows) || header.e_shnum > MAX_SECTIONS ||
            header.e_shstrndx >= header.e_shnum)
                return false;
        sections->n = header.e_shnum;
        sections->rows = calloc(sections->n, sizeof(*sections->rows));
        if (!sections->rows ||
            !read_at(fd, sections->rows, sections->n * sizeof(*sections->rows), header.e_shoff))
                return false;
        names = &sections->rows[header.e_shstrndx];
        if (names->sh_size > MAX_NAMES)
                return false;
        sections->n_names = names->sh_size;
        sections->names = calloc(1, sections->n_names + 1);
        return sections->names && read_at(fd, sections->names, sections->n_names, names->sh_offset);
}

static void sections_free(Sections *sections)
{
        free(sections->rows);
        free(sections->names);
}

static const Elf64_Shdr *sections_find(const Sections *sections, const char *name)
{
        size_t i;

        for (i = 0; i < sections->n; i++)
                if (sections->rows[i].sh_name < sections->n_names &&
                    !strcmp(sections->names + sections->rows[i].sh_name, name))
                        return &sections->rows[i];
        return NULL;
}

/* Is there a tracepoint of the runtime at AT? */
static bool library_has_tracepoint(const Library *library, const char *at, TableLayout layout)
{
        const char *name;
        uint32_t size;

        memcpy(&size, at, sizeof(size));
        if (layout == TABLE_SIZE_FIRST && size != TRACEPOINT_SIZE)
                return false;
        memcpy(&name, at + (layout == TABLE_SIZE_FIRST ? sizeof(void *) : 0), sizeof(name));
        return library_has(library, (uintptr_t)name, sizeof(PROVIDER), false) &&
               !strncmp(name, PROVIDER, strlen(PROVIDER));
}

static void **library_make_table(const Library *library, const Elf64_Shdr *section,
                                 TableLayout layout, size_t *ret_n)
{
        char *at = (char *)(library->base + section->sh_addr);
        const size_t n = section->sh_size / TRACEPOINT_SIZE;
        void **table;
        size_t i;

        if (!n || n > MAX_TRACEPOINTS || section->sh_size % TRACEPOINT_SIZE ||
            !library_has(library, (uintptr_t)at, section->sh_size, true))
                return NULL;
        table = malloc(n * sizeof(*table));
        for (i = 0; table && i < n; i++, at += TRACEPOINT_SIZE) {
                table[i] = at;
                if (!library_has_tracepoint(library, at, layout)) {
                        free(table);
                        return NULL;
                }
        }
        *ret_n = n;
        return table;
}

void **table_make(const char *section, const char *pointers, TableLayout layout, size_t *ret_n)
{
        Sections sections = {NULL, 0, NULL, 0};
        const Elf64_Shdr *found;
        Library library;
        void **table = NULL;
        int fd;

        if (!dl_iterate_phdr(library_take, &library))
                return NULL;
        fd = open(library.path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return NULL;
        if (sections_read(&sections, fd) && !sections_find(&sections, pointers) &&
            (found = sections_find(&sections, section)))
                table = library_make_table(&library, found, layout, ret_n);
        sections_free(&sections);
        close(fd);
        return table;
}
