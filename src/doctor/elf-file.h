/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * ELF file: what the dynamic linker compares, and whether a symbol is exported
 *
 * The files belong to other programs and may hold anything.
 */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/* What the dynamic linker compares before it takes a library: class, byte order and machine. */
typedef struct ElfFileKind {
        unsigned char class, order;
        unsigned machine;
} ElfFileKind;

/* False: BYTES are not the beginning of an ELF file. */
bool elf_file_kind(const void *bytes, size_t n, ElfFileKind *ret_kind);
/* The kind of the program that runs here. */
bool elf_file_own_kind(ElfFileKind *ret_kind);
bool elf_file_is_same_kind(const ElfFileKind *a, const ElfFileKind *b);

/* True if the open file defines NAME in its dynamic symbols. */
bool elf_file_exports(int fd, const char *name);
