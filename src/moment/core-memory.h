/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Core memory: the memory of a process in a core file
 *
 * The segments come from the untrusted file: each read checks addresses and sizes.
 */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CORE_MEMORY_PAGE 4096u

typedef struct CoreMemory {
        int fd;           /* borrowed; owned by a copy of core_memory_dup() */
        uint64_t size;    /* size of the file in bytes */
        GArray *segments; /* owned, of Elf64_Phdr, by address; NULL: not known yet */
        /* The last page that was read, of N_PAGE bytes. */
        uint64_t page_at;
        size_t n_page; /* 0: none */
        uint8_t page[CORE_MEMORY_PAGE];
} CoreMemory;

/* Reads at most N bytes of the file from OFFSET on; returns their number. */
size_t core_file_read(const CoreMemory *memory, uint64_t offset, void *ret, size_t n);
/* The number of segments that begin at or before ADDRESS. */
guint core_memory_before(const CoreMemory *memory, uint64_t address);
/* Reads at most N bytes of memory from ADDRESS on, up to the first gap; returns their number. */
size_t core_memory_read(const CoreMemory *memory, uint64_t address, void *ret, size_t n);
/* Reads the 8 bytes at ADDRESS. False: the file does not have them. */
bool core_memory_read_word(CoreMemory *memory, uint64_t address, uint64_t *ret);

/* A copy with a descriptor of its own. NULL: errno is set. */
CoreMemory *core_memory_dup(const CoreMemory *memory);
/* Frees a copy of core_memory_dup(). NULL is fine. */
void core_memory_free(CoreMemory *memory);
