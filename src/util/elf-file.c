/* SPDX-License-Identifier: MIT */
#include "util/elf-file.h"

#include "util/fd.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { OWN_ORDER = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB };

bool elf_file_read(const ElfFile *file, uint64_t offset, void *bytes, size_t n)
{
        uint8_t *at = bytes;

        if (offset > file->size || n > file->size - offset)
                return false;
        while (n) {
                ssize_t r = pread(file->fd, at, n, (off_t)offset);

                if (r < 0 && errno == EINTR)
                        continue;
                if (r <= 0)
                        return false;
                at += r;
                offset += (uint64_t)r;
                n -= (size_t)r;
        }
        return true;
}

void *elf_file_copy(const ElfFile *file, uint64_t offset, uint64_t n, size_t max)
{
        void *bytes;

        /* Checked before memory is allocated. */
        if (n == 0 || n > max || offset > file->size || n > file->size - offset)
                return NULL;
        bytes = malloc((size_t)n);
        if (bytes && elf_file_read(file, offset, bytes, (size_t)n))
                return bytes;
        free(bytes);
        return NULL;
}

/* True also if there are none. */
static bool elf_file_read_segments(ElfFile *file)
{
        const Elf64_Ehdr *header = &file->header;

        if (!header->e_phoff || !header->e_phnum)
                return true;
        if (header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phnum > ELF_MAX_SEGMENTS)
                return false;
        file->segments = elf_file_copy(file, header->e_phoff, header->e_phnum * sizeof(Elf64_Phdr),
                                       ELF_MAX_SEGMENTS * sizeof(Elf64_Phdr));
        file->n_segments = file->segments ? header->e_phnum : 0;
        return file->segments != NULL;
}

/* A file whose sections were stripped is accepted. */
static bool elf_file_read_sections(ElfFile *file)
{
        const Elf64_Ehdr *header = &file->header;
        const Elf64_Shdr *names;

        if (!header->e_shoff || !header->e_shnum)
                return true;
        if (header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shnum > ELF_MAX_SECTIONS)
                return false;
        file->sections = elf_file_copy(file, header->e_shoff, header->e_shnum * sizeof(Elf64_Shdr),
                                       ELF_MAX_SECTIONS * sizeof(Elf64_Shdr));
        if (!file->sections)
                return false;
        file->n_sections = header->e_shnum;
        if (header->e_shstrndx == SHN_UNDEF || header->e_shstrndx >= file->n_sections)
                return true;
        names = &file->sections[header->e_shstrndx];
        file->names = elf_file_copy(file, names->sh_offset, names->sh_size, ELF_MAX_NAMES);
        if (!file->names)
                return false;
        file->n_names = (size_t)names->sh_size;
        return file->names[file->n_names - 1] == '\0';
}

bool elf_file_open(ElfFile *ret, int fd)
{
        ElfFile file = {.fd = fd};
        struct stat st;

        if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
                return false;
        file.size = (uint64_t)st.st_size;
        if (!elf_file_read(&file, 0, &file.header, sizeof(file.header)) ||
            memcmp(file.header.e_ident, ELFMAG, SELFMAG) != 0 ||
            file.header.e_ident[EI_CLASS] != ELFCLASS64 ||
            file.header.e_ident[EI_DATA] != OWN_ORDER || !elf_file_read_segments(&file) ||
            !elf_file_read_sections(&file)) {
                elf_file_close(&file);
                return false;
        }
        *ret = file;
        return true;
}

void elf_file_close(ElfFile *file)
{
        free(file->segments);
        free(file->sections);
        free(file->names);
        *file = (ElfFile){.fd = -1};
}

bool elf_segments_address(const Elf64_Phdr *segments, unsigned n, uint32_t flags, uint64_t offset,
                          uint64_t *ret)
{
        unsigned i;

        for (i = 0; i < n; i++) {
                const Elf64_Phdr *segment = &segments[i];

                if (segment->p_type != PT_LOAD || (segment->p_flags & flags) != flags ||
                    offset < segment->p_offset || offset - segment->p_offset >= segment->p_filesz)
                        continue;
                *ret = offset - segment->p_offset + segment->p_vaddr;
                return true;
        }
        return false;
}

const Elf64_Shdr *elf_file_section(const ElfFile *file, const char *name)
{
        unsigned i;

        for (i = 0; i < file->n_sections; i++) {
                const Elf64_Shdr *section = &file->sections[i];

                if (section->sh_type != SHT_NULL && section->sh_type != SHT_NOBITS &&
                    section->sh_name < file->n_names &&
                    !strcmp(file->names + section->sh_name, name))
                        return section;
        }
        return NULL;
}

size_t elf_notes_build_id(const uint8_t *notes, size_t n, uint8_t ret[ELF_MAX_BUILD_ID])
{
        size_t at = 0;

        while (n - at >= sizeof(Elf64_Nhdr)) {
                const size_t room = n - at - sizeof(Elf64_Nhdr);
                size_t name, id;
                Elf64_Nhdr note;

                memcpy(&note, notes + at, sizeof(note));
                at += sizeof(note);
                /* Each is padded to four bytes. */
                name = ((size_t)note.n_namesz + 3) / 4 * 4;
                id = ((size_t)note.n_descsz + 3) / 4 * 4;
                if (name > room || note.n_descsz > room - name)
                        break;
                if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
                    !memcmp(notes + at, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) && note.n_descsz > 1 &&
                    note.n_descsz <= ELF_MAX_BUILD_ID) {
                        memcpy(ret, notes + at + name, note.n_descsz);
                        return note.n_descsz;
                }
                at += id > room - name ? room : name + id;
        }
        return 0;
}

/* The id among the notes in N bytes at OFFSET; 0: none. *N_LEFT: bytes that may still be read. */
static size_t elf_file_find_id(const ElfFile *file, uint64_t offset, uint64_t n, size_t *n_left,
                               uint8_t ret[ELF_MAX_BUILD_ID])
{
        uint8_t *notes = elf_file_copy(file, offset, n, *n_left);
        size_t n_id = notes ? elf_notes_build_id(notes, (size_t)n, ret) : 0;

        *n_left -= notes ? (size_t)n : 0;
        free(notes);
        return n_id;
}

size_t elf_file_build_id(const ElfFile *file, uint8_t ret[ELF_MAX_BUILD_ID])
{
        size_t n = 0, n_left = ELF_MAX_NOTES;
        unsigned i;

        /* In a debug file the segments have no content. */
        for (i = 0; !n && i < file->n_sections; i++)
                if (file->sections[i].sh_type == SHT_NOTE)
                        n = elf_file_find_id(file, file->sections[i].sh_offset,
                                             file->sections[i].sh_size, &n_left, ret);
        for (i = 0; !n && i < file->n_segments; i++)
                if (file->segments[i].p_type == PT_NOTE)
                        n = elf_file_find_id(file, file->segments[i].p_offset,
                                             file->segments[i].p_filesz, &n_left, ret);
        return n;
}

bool elf_file_has_build_id(const ElfFile *file, const uint8_t *id, size_t n)
{
        uint8_t own[ELF_MAX_BUILD_ID];

        return elf_file_build_id(file, own) == n && !memcmp(own, id, n);
}

bool elf_file_has_symbols(const ElfFile *file)
{
        unsigned i;

        for (i = 0; i < file->n_sections; i++)
                if (file->sections[i].sh_type == SHT_SYMTAB)
                        return true;
        return false;
}

/* Copies of a table of symbols and of their names. */
typedef struct ElfSymbols {
        Elf64_Sym *rows; /* owned; NULL: unreadable */
        size_t n;
        char *names; /* owned */
        uint64_t n_names;
} ElfSymbols;

static void symbols_deinit(ElfSymbols *symbols)
{
        free(symbols->rows);
        free(symbols->names);
}

static bool symbols_read(ElfSymbols *ret, const ElfFile *file, const Elf64_Shdr *section)
{
        const Elf64_Shdr *names;

        *ret = (ElfSymbols){0};
        if (section->sh_link >= file->n_sections)
                return false;
        names = &file->sections[section->sh_link];
        ret->rows = elf_file_copy(file, section->sh_offset, section->sh_size, ELF_MAX_SYMBOLS);
        ret->names =
                ret->rows ? elf_file_copy(file, names->sh_offset, names->sh_size, ELF_MAX_SYMBOLS)
                          : NULL;
        ret->n = ret->names ? section->sh_size / sizeof(*ret->rows) : 0;
        ret->n_names = names->sh_size;
        return ret->names != NULL;
}

/* SECTION is a table of dynamic symbols. */
static bool elf_section_exports(const ElfFile *file, const Elf64_Shdr *section, const char *name)
{
        const size_t n_name = strlen(name) + 1;
        ElfSymbols symbols;
        bool is_found = false;
        size_t i;

        symbols_read(&symbols, file, section);
        for (i = 0; !is_found && i < symbols.n; i++) {
                const uint64_t at = symbols.rows[i].st_name;

                is_found = symbols.rows[i].st_shndx != SHN_UNDEF && at < symbols.n_names &&
                           n_name <= symbols.n_names - at &&
                           !memcmp(symbols.names + at, name, n_name);
        }
        symbols_deinit(&symbols);
        return is_found;
}

static bool symbol_is_empty_code(const Elf64_Sym *symbol)
{
        const unsigned type = ELF64_ST_TYPE(symbol->st_info);

        return symbol->st_size == 0 && symbol->st_shndx != SHN_UNDEF &&
               symbol->st_shndx < SHN_LORESERVE && (type == STT_FUNC || type == STT_NOTYPE);
}

bool elf_file_empty_symbols(const ElfFile *file, bool (*fn)(const char *name, void *data),
                            void *data)
{
        bool goes_on = true;
        unsigned i;
        size_t k;

        for (i = 0; goes_on && i < file->n_sections; i++) {
                const Elf64_Shdr *section = &file->sections[i];
                ElfSymbols symbols;

                if (section->sh_type != SHT_DYNSYM && section->sh_type != SHT_SYMTAB)
                        continue;
                symbols_read(&symbols, file, section);
                for (k = 0; goes_on && k < symbols.n; k++) {
                        const uint64_t at = symbols.rows[k].st_name;

                        if (symbol_is_empty_code(&symbols.rows[k]) && at < symbols.n_names &&
                            symbols.names[at] &&
                            memchr(symbols.names + at, 0, symbols.n_names - at))
                                goes_on = fn(symbols.names + at, data);
                }
                symbols_deinit(&symbols);
        }
        return goes_on;
}

/* The name at AT, if it ends with a NUL. */
static const char *symbols_name(const ElfSymbols *symbols, uint64_t at)
{
        return at < symbols->n_names && memchr(symbols->names + at, 0, symbols->n_names - at)
                       ? symbols->names + at
                       : NULL;
}

static bool elf_file_is_code(const ElfFile *file, const Elf64_Sym *symbol)
{
        const unsigned type = ELF64_ST_TYPE(symbol->st_info);

        return (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE) &&
               symbol->st_shndx < file->n_sections && symbol->st_shndx != SHN_UNDEF &&
               file->sections[symbol->st_shndx].sh_flags & SHF_EXECINSTR;
}

static bool elf_section_code_symbols(const ElfFile *file, const Elf64_Shdr *section, ElfSymbolFn fn,
                                     void *data)
{
        ElfSymbols symbols;
        bool goes_on = true;
        size_t i;

        symbols_read(&symbols, file, section);
        for (i = 0; goes_on && i < symbols.n; i++) {
                const Elf64_Sym *row = &symbols.rows[i];
                const unsigned binding = ELF64_ST_BIND(row->st_info);
                const ElfSymbol symbol = {.name = symbols_name(&symbols, row->st_name),
                                          .value = row->st_value,
                                          .size = row->st_size,
                                          .is_global = binding == STB_GLOBAL,
                                          .is_weak = binding == STB_WEAK,
                                          .is_code = ELF64_ST_TYPE(row->st_info) != STT_NOTYPE};

                if (symbol.name && *symbol.name && elf_file_is_code(file, row))
                        goes_on = fn(&symbol, data);
        }
        symbols_deinit(&symbols);
        return goes_on;
}

bool elf_file_code_symbols(const ElfFile *file, uint32_t type, ElfSymbolFn fn, void *data)
{
        unsigned i;

        for (i = 0; i < file->n_sections; i++)
                if (file->sections[i].sh_type == type &&
                    !elf_section_code_symbols(file, &file->sections[i], fn, data))
                        return false;
        return true;
}

/* The place of the entries: a table of their own with .plt.sec, else after the header of .plt. */
static bool elf_file_linkage(const ElfFile *file, uint64_t *ret_first, uint64_t *ret_end)
{
        enum { ENTRY = 16, HEADER_AARCH64 = 32 };
        const Elf64_Shdr *table = elf_file_section(file, ".plt.sec");
        const uint64_t header = table                                  ? 0
                                : file->header.e_machine == EM_AARCH64 ? HEADER_AARCH64
                                                                       : ENTRY;

        if (!table)
                table = elf_file_section(file, ".plt");
        if (!table || table->sh_size < header || table->sh_addr > UINT64_MAX - table->sh_size)
                return false;
        *ret_first = table->sh_addr + header;
        *ret_end = table->sh_addr + table->sh_size;
        return true;
}

bool elf_file_linkage_symbols(const ElfFile *file, ElfSymbolFn fn, void *data)
{
        enum { ENTRY = 16 };
        const Elf64_Shdr *section = elf_file_section(file, ".rela.plt");
        ElfSymbols symbols;
        Elf64_Rela *rows;
        uint64_t at, end;
        bool goes_on = true;
        size_t i, n;

        if (!section || section->sh_link >= file->n_sections || !elf_file_linkage(file, &at, &end))
                return true;
        rows = elf_file_copy(file, section->sh_offset, section->sh_size, ELF_MAX_SYMBOLS);
        n = rows ? section->sh_size / sizeof(*rows) : 0;
        symbols_read(&symbols, file, &file->sections[section->sh_link]);
        for (i = 0; goes_on && i < n && at < end && end - at >= ENTRY; i++, at += ENTRY) {
                const uint64_t number = ELF64_R_SYM(rows[i].r_info);
                ElfSymbol symbol = {.value = at, .size = ENTRY, .is_code = true};

                if (number && number < symbols.n)
                        symbol.name = symbols_name(&symbols, symbols.rows[number].st_name);
                if (symbol.name && *symbol.name)
                        goes_on = fn(&symbol, data);
        }
        symbols_deinit(&symbols);
        free(rows);
        return goes_on;
}

bool elf_file_exports(const ElfFile *file, const char *name)
{
        unsigned i;

        for (i = 0; i < file->n_sections; i++)
                if (file->sections[i].sh_type == SHT_DYNSYM)
                        return elf_section_exports(file, &file->sections[i], name);
        return false;
}

bool elf_file_kind(const void *bytes, size_t n, ElfFileKind *ret_kind)
{
        const unsigned char *ident = bytes;
        Elf64_Half machine;

        /* Headers of 32 and of 64 bits are the same up to the machine. */
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
