/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Core memory: the memory of a process that a core file has
 *
 * The segments come from the file, which may hold anything: addresses and sizes are checked at each
 * read.
 */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CORE_MEMORY_PAGE 4096u

typedef struct CoreMemory {
        int fd;           /* borrowed, or owned by who has the copy of core_memory_dup() */
        uint64_t size;    /* bytes of the file */
        GArray *segments; /* owned, of Elf64_Phdr, by address; NULL: they are not known yet */
        /* The page that was read last, of N_PAGE bytes: */
        uint64_t page_at;
        size_t n_page; /* 0: none */
        uint8_t page[CORE_MEMORY_PAGE];
} CoreMemory;

/* The bytes of the file from OFFSET on: at most N; returns how many. */
size_t core_file_read(const CoreMemory *memory, uint64_t offset, void *ret, size_t n);
/* The number of the segments that begin at or before ADDRESS. */
guint core_memory_before(const CoreMemory *memory, uint64_t address);
/* The bytes of memory from ADDRESS on, at most N, that the file has without a gap. */
size_t core_memory_read(const CoreMemory *memory, uint64_t address, void *ret, size_t n);
/* The 8 bytes at ADDRESS. False: the file does not have them. */
bool core_memory_read_word(CoreMemory *memory, uint64_t address, uint64_t *ret);

/* A copy with a descriptor of its own. NULL: there is none. */
CoreMemory *core_memory_dup(const CoreMemory *memory);
/* Frees such a copy. NULL is fine. */
void core_memory_free(CoreMemory *memory);
