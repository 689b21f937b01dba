/* SPDX-License-Identifier: MIT */
#include "doctor/elf-file.h"

#include "util/fd.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>

/* More than any such program has. */
#define MAX_SYMBOL_BYTES (64u << 20)
#define MAX_STRING_BYTES (64u << 20)

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Elf, elf_end)

bool elf_file_kind(const void *bytes, size_t n, ElfFileKind *ret_kind)
{
        const unsigned char *ident = bytes;
        Elf64_Half machine;

        /* Up to the machine, headers of 32 and of 64 bits are the same. */
        if (n < offsetof(Elf64_Ehdr, e_machine) + sizeof(machine) || memcmp(ident, ELFMAG, SELFMAG))
                return false;
        memcpy(&machine, ident + offsetof(Elf64_Ehdr, e_machine), sizeof(machine));
        *ret_kind = (ElfFileKind){ident[EI_CLASS], ident[EI_DATA], machine};
        return true;
}

bool elf_file_own_kind(ElfFileKind *ret_kind)
{
        FD_AUTO int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
        Elf64_Ehdr header;
        ssize_t n = fd >= 0 ? read(fd, &header, sizeof(header)) : -1;

        return n > 0 && elf_file_kind(&header, (size_t)n, ret_kind);
}

bool elf_file_is_same_kind(const ElfFileKind *a, const ElfFileKind *b)
{
        return a->class == b->class && a->order == b->order && a->machine == b->machine;
}

/* SECTION, a table of dynamic symbols, has the header HEADER. */
static bool elf_section_exports(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
                                const char *name)
{
        Elf_Scn *strings = elf_getscn(elf, header->sh_link);
        GElf_Shdr strings_header;
        Elf_Data *data;
        GElf_Sym symbol;
        int i;

        if (!strings || !gelf_getshdr(strings, &strings_header) ||
            header->sh_size > MAX_SYMBOL_BYTES || strings_header.sh_size > MAX_STRING_BYTES)
                return false;
        data = elf_getdata(section, NULL);
        for (i = 0; data && gelf_getsym(data, i, &symbol); i++) {
                const char *text = symbol.st_shndx != SHN_UNDEF
                                           ? elf_strptr(elf, header->sh_link, symbol.st_name)
                                           : NULL;

                if (text && !strcmp(text, name))
                        return true;
        }
        return false;
}

bool elf_file_exports(int fd, const char *name)
{
        g_autoptr(Elf) elf = NULL;
        Elf_Scn *section = NULL;
        GElf_Shdr header;

        if (elf_version(EV_CURRENT) == EV_NONE)
                return false;
        /* Read, not mapped: if the file became shorter, a mapping would raise SIGBUS. */
        elf = elf_begin(fd, ELF_C_READ, NULL);
        if (!elf || elf_kind(elf) != ELF_K_ELF)
                return false;
        while ((section = elf_nextscn(elf, section)))
                if (gelf_getshdr(section, &header) && header.sh_type == SHT_DYNSYM &&
                    elf_section_exports(elf, section, &header, name))
                        return true;
        return false;
}
