/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Program: a structure of fields compiled to steps, and the reader that runs them over bytes
 *
 * Running a program finds where a structure ends and keeps the values that somebody needs: in slots
 * those of fields that were given one, and what the roles of others mean.
 */

#include "ctf/class.h"

#include <string.h>
#include <sys/types.h>

typedef struct CtfSlot {
        uint64_t value;      /* of an integer; sign-extended if it is signed */
        const uint8_t *data; /* of texts and arrays of bytes: in the cursor's window */
        uint64_t n;          /* elements of an array, bytes of a text without its NUL */
        unsigned shift;      /* bits from `data` on to the first element */
} CtfSlot;

/* Where in a packet the reader is. Positions are in bits from the packet's first. */
typedef struct CtfCursor {
        const uint8_t *window; /* borrowed: bytes of the packet from window_begin on */
        uint64_t window_begin; /* in bytes */
        uint64_t at;           /* next bit to read */
        uint64_t end;          /* first bit that is not in the window, or not content */
        uint64_t clock;        /* of the stream, in cycles */
        uint64_t roles[_CTF_ROLE_MAX];
        uint32_t has_roles;  /* bits */
        const uint8_t *uuid; /* in the window; NULL: the packet has none */
} CtfCursor;

typedef struct CtfProgram CtfProgram;

/*
 * Compiles ROOT, a resolved structure; NULL: nothing. Numbers the slots of its fields from *N_SLOTS
 * on, and counts *N_SLOTS up. *IS_BYTE_ALIGNED: whether it certainly begins at a whole byte of the
 * packet; set to whether it ends at one.
 */
CtfProgram *ctf_program_new(CtfClass *root, uint32_t *n_slots, bool *is_byte_aligned);
void ctf_program_free(CtfProgram *program);

typedef enum CtfRunResult {
        CTF_RUN_OK,
        CTF_RUN_SHORT,   /* the bytes end inside the structure */
        CTF_RUN_INVALID, /* a variant's selector selects nothing */
} CtfRunResult;

/* Runs PROGRAM. SLOTS has as many as were numbered. On failure the cursor's values are not valid.
 */
CtfRunResult ctf_program_run(const CtfProgram *program, CtfCursor *cursor, CtfSlot *slots);

/* The same for any integer; slower. */
uint64_t ctf_read_bits(const uint8_t *bytes, unsigned shift, unsigned size, bool is_big_endian);

/* An integer of SIZE bits, SHIFT bits after BYTES; the caller has made sure that it is there. */
static inline uint64_t ctf_read_integer(const uint8_t *bytes, unsigned shift, unsigned size,
                                        bool is_big_endian)
{
        uint64_t u64;
        uint32_t u32;
        uint16_t u16;

        switch (shift ? 0 : size) {
        case 8:
                return bytes[0];
        case 16:
                memcpy(&u16, bytes, sizeof(u16));
                return is_big_endian ? GUINT16_FROM_BE(u16) : GUINT16_FROM_LE(u16);
        case 32:
                memcpy(&u32, bytes, sizeof(u32));
                return is_big_endian ? GUINT32_FROM_BE(u32) : GUINT32_FROM_LE(u32);
        case 64:
                memcpy(&u64, bytes, sizeof(u64));
                return is_big_endian ? GUINT64_FROM_BE(u64) : GUINT64_FROM_LE(u64);
        default:
                return ctf_read_bits(bytes, shift, size, is_big_endian);
        }
}

static inline bool ctf_cursor_has(const CtfCursor *cursor, CtfRole role)
{
        return cursor->has_roles & 1u << role;
}
