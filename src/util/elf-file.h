/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * ELF file: the tables, the exported symbols and the build id of a program, a library or a debug
 * file
 *
 * The files belong to other programs and can contain anything; a file of some kilobytes can claim
 * to have gigabytes. So a file is read with pread(), never mapped, and each length is compared with
 * the file's size and with a bound before memory is allocated. Only files of 64 bits in this
 * machine's byte order are read.
 */

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Rows of its tables: linkers make some dozens. A file with more of either is refused. */
#define ELF_MAX_SEGMENTS 1024u
#define ELF_MAX_SECTIONS 4096u
/* Bytes of the names of sections, of all notes, and of a symbol table or its names. */
#define ELF_MAX_NAMES   (256u << 10)
#define ELF_MAX_NOTES   (256u << 10)
#define ELF_MAX_SYMBOLS (32u << 20)
/* Bytes of a build id: linkers make 8 to 20. */
#define ELF_MAX_BUILD_ID 64u

typedef struct ElfFile {
        int fd;        /* borrowed */
        uint64_t size; /* bytes of the file */
        Elf64_Ehdr header;
        Elf64_Phdr *segments; /* owned */
        unsigned n_segments;
        Elf64_Shdr *sections; /* owned */
        unsigned n_sections;
        char *names; /* owned: names of sections, with a NUL at the end; NULL: none */
        size_t n_names;
} ElfFile;

/* Reads the tables of the regular file FD. False: it is another kind of file, or is malformed. */
bool elf_file_open(ElfFile *ret, int fd);
void elf_file_close(ElfFile *file);

/* The N bytes at OFFSET. False: the file is shorter, or cannot be read. */
bool elf_file_read(const ElfFile *file, uint64_t offset, void *bytes, size_t n);
/* The same, in memory that the caller frees. NULL also if N is more than MAX, or there is no
 * memory. */
void *elf_file_copy(const ElfFile *file, uint64_t offset, uint64_t n, size_t max);

/* The address, in the file's own address space, of the byte at OFFSET of the file: in the first of
 * the N segments that is loaded, has the FLAGS (of PF_*), and has the byte. False: none has it. */
bool elf_segments_address(const Elf64_Phdr *segments, unsigned n, uint32_t flags, uint64_t offset,
                          uint64_t *ret);

/* The section called NAME, if it has bytes in the file; NULL: there is none. */
const Elf64_Shdr *elf_file_section(const ElfFile *file, const char *name);

/* Copies the build id into RET, and returns its length in bytes; 0: there is none. */
size_t elf_file_build_id(const ElfFile *file, uint8_t ret[ELF_MAX_BUILD_ID]);
/* The same, among N bytes of notes. */
size_t elf_notes_build_id(const uint8_t *notes, size_t n, uint8_t ret[ELF_MAX_BUILD_ID]);
/* True if the build id of the file is the one of N bytes. */
bool elf_file_has_build_id(const ElfFile *file, const uint8_t *id, size_t n);
/* True if the file has a table of all symbols, not only of exported ones. */
bool elf_file_has_symbols(const ElfFile *file);
/* True if the file defines NAME in its dynamic symbols. */
bool elf_file_exports(const ElfFile *file, const char *name);

/* Calls FN for each symbol of code that the file defines without a size, as assembler can. NAME is
 * valid during the call. False: FN returned false. */
bool elf_file_empty_symbols(const ElfFile *file, bool (*fn)(const char *name, void *data),
                            void *data);

/* A symbol that the file defines, or an entry of its procedure linkage table. */
typedef struct ElfSymbol {
        const char *name; /* valid during the call */
        uint64_t value;   /* its address in the file's own address space */
        uint64_t size;    /* bytes; 0: not known */
        bool is_global, is_weak;
        bool is_code; /* the file says that it is a function */
} ElfSymbol;

/* False ends the walk. */
typedef bool (*ElfSymbolFn)(const ElfSymbol *symbol, void *data);

/* Calls FN for each symbol in code of the tables of TYPE, SHT_SYMTAB or SHT_DYNSYM. False: FN
 * returned false. */
bool elf_file_code_symbols(const ElfFile *file, uint32_t type, ElfSymbolFn fn, void *data);
/* Calls FN for each entry of the procedure linkage table, with the name of the called function in
 * the dynamic symbols. */
bool elf_file_linkage_symbols(const ElfFile *file, ElfSymbolFn fn, void *data);

/* The parts of a library that the dynamic linker compares first: class, byte order and machine. */
typedef struct ElfFileKind {
        unsigned char class, order;
        unsigned machine;
} ElfFileKind;

/* False: BYTES are not the beginning of an ELF file. */
bool elf_file_kind(const void *bytes, size_t n, ElfFileKind *ret_kind);
/* The kind of this program. */
bool elf_file_own_kind(ElfFileKind *ret_kind);
bool elf_file_is_same_kind(const ElfFileKind *a, const ElfFileKind *b);
