/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * ELF file: the little that is to be known of programs and libraries
 *
 * They are others' files: nothing in them is taken for granted.
 */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/* What the dynamic linker compares before it takes a library: class, byte order and machine. */
typedef struct ElfKind {
        unsigned char class, order;
        unsigned machine;
} ElfKind;

/* False: BYTES, the begin of a file, are none of an ELF one. */
bool elf_kind(const void *bytes, size_t n, ElfKind *ret_kind);
/* Of the program that is running here. */
bool elf_own_kind(ElfKind *ret_kind);
bool elf_is_same_kind(const ElfKind *a, const ElfKind *b);

/* Does the open file define NAME for others, in its dynamic symbols? 64 bits, our byte order. */
bool elf_exports(int fd, const char *name);
