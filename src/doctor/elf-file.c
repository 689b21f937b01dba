/* SPDX-License-Identifier: MIT */
#include "doctor/elf-file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* More than any program has that could be meant. */
#define MAX_SECTIONS     4096
#define MAX_SYMBOL_BYTES (64u << 20)
#define MAX_STRING_BYTES (64u << 20)

bool elf_kind(const void *bytes, size_t n, ElfKind *ret_kind)
{
        const unsigned char *ident = bytes;
        Elf64_Half machine;

        /* Up to the machine the header is the same for 32 and for 64 bits. */
        if (n < offsetof(Elf64_Ehdr, e_machine) + sizeof(machine) || memcmp(ident, ELFMAG, SELFMAG))
                return false;
        memcpy(&machine, ident + offsetof(Elf64_Ehdr, e_machine), sizeof(machine));
        *ret_kind = (ElfKind){ident[EI_CLASS], ident[EI_DATA], machine};
        return true;
}

bool elf_own_kind(ElfKind *ret_kind)
{
        Elf64_Ehdr header;
        int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
        ssize_t n = fd >= 0 ? read(fd, &header, sizeof(header)) : -1;

        if (fd >= 0)
                close(fd);
        return n > 0 && elf_kind(&header, (size_t)n, ret_kind);
}

bool elf_is_same_kind(const ElfKind *a, const ElfKind *b)
{
        return a->class == b->class && a->order == b->order && a->machine == b->machine;
}

/* N bytes at OFFSET; the caller's. NULL: they are not there. */
static void *read_at(int fd, uint64_t offset, uint64_t n)
{
        g_autofree char *bytes = offset < INT64_MAX ? g_try_malloc(n) : NULL;
        uint64_t n_read = 0;

        while (bytes && n_read < n) {
                ssize_t r = pread(fd, bytes + n_read, n - n_read, (off_t)(offset + n_read));

                if (r <= 0 && !(r < 0 && errno == EINTR))
                        return NULL;
                n_read += r > 0 ? (uint64_t)r : 0;
        }
        return g_steal_pointer(&bytes);
}

static bool has_symbol(int fd, const Elf64_Shdr *symbols, const Elf64_Shdr *strings,
                       const char *name)
{
        g_autofree Elf64_Sym *table = NULL;
        g_autofree char *text = NULL;
        size_t i, n = symbols->sh_size / sizeof(Elf64_Sym), length = strlen(name) + 1;

        if (!n || symbols->sh_size > MAX_SYMBOL_BYTES || strings->sh_size > MAX_STRING_BYTES)
                return false;
        table = read_at(fd, symbols->sh_offset, n * sizeof(*table));
        text = strings->sh_size ? read_at(fd, strings->sh_offset, strings->sh_size) : NULL;
        if (!table || !text)
                return false;
        for (i = 0; i < n; i++)
                if (table[i].st_shndx != SHN_UNDEF && table[i].st_name < strings->sh_size &&
                    strings->sh_size - table[i].st_name >= length &&
                    !memcmp(text + table[i].st_name, name, length))
                        return true;
        return false;
}

bool elf_exports(int fd, const char *name)
{
        g_autofree Elf64_Ehdr *header = read_at(fd, 0, sizeof(*header));
        g_autofree Elf64_Shdr *sections = NULL;
        ElfKind own, its;
        size_t i;

        if (!header || !elf_kind(header, sizeof(*header), &its) || !elf_own_kind(&own) ||
            its.class != ELFCLASS64 || its.order != own.order ||
            header->e_shentsize != sizeof(*sections) || header->e_shnum > MAX_SECTIONS)
                return false;
        sections = read_at(fd, header->e_shoff, header->e_shnum * sizeof(*sections));
        for (i = 0; sections && i < header->e_shnum; i++)
                if (sections[i].sh_type == SHT_DYNSYM && sections[i].sh_link < header->e_shnum &&
                    has_symbol(fd, &sections[i], &sections[sections[i].sh_link], name))
                        return true;
        return false;
}
