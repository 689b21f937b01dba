/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Frame table: the functions with call frame information in an ELF file (.eh_frame of the Linux
 * Standard Base, .debug_frame of DWARF 5, section 6.4)
 *
 * The section is copied, so that the file can be closed. The section is not trusted: parts beyond
 * the bounds below are left out, as is everything after an incomplete record.
 */

#include "metadata/byte-cursor.h"
#include "util/elf-file.h"

/* Bytes of a section: a browser's has 15 MiB. */
#define FRAME_TABLE_MAX_BYTES (32u << 20)
/* Bytes of a record: compilers write some hundred, for a few functions some thousand. */
#define FRAME_TABLE_MAX_RECORD (64u << 10)

/* A function, in the file's own addresses. */
typedef struct FrameRange {
        uint64_t begin;
        uint32_t size; /* in bytes; not 0 */
        uint32_t at;   /* place of its record in the section */
} FrameRange;

typedef struct FrameTable {
        uint8_t *bytes; /* owned: the section */
        size_t n_bytes;
        uint64_t address; /* of the section; not used in .debug_frame */
        bool is_debug;    /* it is .debug_frame */
        FrameRange *rows; /* owned: sorted by `begin` */
        size_t n_rows;
} FrameTable;

/* The rules for finding the callers of a function. Borrowed from the table. */
typedef struct FrameEntry {
        uint64_t begin;      /* of the function */
        uint64_t size;       /* of the function, in bytes */
        ByteCursor common;   /* instructions for all of its compilation unit, ... */
        ByteCursor own;      /* ... and for the function */
        uint64_t position;   /* the address of `own`, which pointers in it can be relative to */
        uint64_t code_units; /* bytes for each unit of an advance */
        int64_t data_units;  /* bytes for each unit of an offset */
        uint64_t return_register;
        uint8_t encoding; /* of pointers */
        bool is_signal;   /* the kernel made this frame, to run a signal handler */
} FrameEntry;

/* The section of a file. */
typedef enum FrameSection {
        FRAME_SECTION_EH,
        FRAME_SECTION_DEBUG,
} FrameSection;

/* False: no such section, or it cannot be read, or there is no memory. */
bool frame_table_read(FrameTable *ret, const ElfFile *file, FrameSection section);
void frame_table_deinit(FrameTable *table);
/* Bytes of memory. */
size_t frame_table_size(const FrameTable *table);

/* The function with the byte at ADDRESS. False: none. */
bool frame_table_find(const FrameTable *table, uint64_t address, FrameEntry *ret);

/* A pointer in ENCODING (DW_EH_PE_*) at CURSOR, which is at the address POSITION. False: functions
 * do not have that encoding. */
bool frame_pointer_take(ByteCursor *cursor, uint8_t encoding, uint64_t position, uint64_t *ret);
