/* SPDX-License-Identifier: MIT */
#include "cli/elf-build.h"

#include <gelf.h>
#include <libelf.h>
#include <string.h>

/* Bytes: linkers make 8 to 20. */
#define MIN_ID 2u
#define MAX_ID 64u
/* More than notes take anywhere. */
#define MAX_NOTES (1u << 20)

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Elf, elf_end)

static Elf *elf_build_open(int fd)
{
        return elf_version(EV_CURRENT) != EV_NONE ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
}

static char *bytes_to_hex(const uint8_t *bytes, size_t n)
{
        GString *text = g_string_new(NULL);
        size_t i;

        for (i = 0; i < n; i++)
                g_string_append_printf(text, "%02x", bytes[i]);
        return g_string_free(text, FALSE);
}

/* The id among the notes of a segment; NULL: there is none. */
static char *elf_notes_build_id(Elf *elf, const GElf_Phdr *segment)
{
        Elf_Data *data = segment->p_filesz <= MAX_NOTES
                                 ? elf_getdata_rawchunk(elf, (int64_t)segment->p_offset,
                                                        segment->p_filesz, ELF_T_NHDR)
                                 : NULL;
        size_t at = 0, name, id;
        GElf_Nhdr note;

        while (data && (at = gelf_getnote(data, at, &note, &name, &id)) > 0)
                if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
                    !memcmp((const char *)data->d_buf + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) &&
                    note.n_descsz >= MIN_ID && note.n_descsz <= MAX_ID)
                        return bytes_to_hex((const uint8_t *)data->d_buf + id, note.n_descsz);
        return NULL;
}

/* The same in sections: in a debug file the segments have no content. */
static char *elf_sections_build_id(Elf *elf)
{
        Elf_Scn *section = NULL;
        char *id = NULL;
        GElf_Shdr header;

        while (!id && (section = elf_nextscn(elf, section)))
                if (gelf_getshdr(section, &header) && header.sh_type == SHT_NOTE) {
                        const GElf_Phdr notes = {.p_offset = header.sh_offset,
                                                 .p_filesz = header.sh_size};

                        id = elf_notes_build_id(elf, &notes);
                }
        return id;
}

char *elf_build_id(int fd)
{
        g_autoptr(Elf) elf = elf_build_open(fd);
        char *id = NULL;
        GElf_Phdr segment;
        size_t n, i;

        if (!elf || elf_kind(elf) != ELF_K_ELF)
                return NULL;
        id = elf_sections_build_id(elf);
        if (elf_getphdrnum(elf, &n) < 0)
                n = 0;
        for (i = 0; !id && i < n && gelf_getphdr(elf, (int)i, &segment); i++)
                if (segment.p_type == PT_NOTE)
                        id = elf_notes_build_id(elf, &segment);
        return id;
}

bool elf_build_has_symbols(int fd)
{
        g_autoptr(Elf) elf = elf_build_open(fd);
        Elf_Scn *section = NULL;
        GElf_Shdr header;

        while (elf && (section = elf_nextscn(elf, section)))
                if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB)
                        return true;
        return false;
}
