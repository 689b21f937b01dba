/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Byte cursor: little-endian numbers from unchecked bytes
 *
 * A read past the end yields 0 and marks the cursor as failed; it stays failed. So a caller can
 * read a whole record and check once.
 */

#include "util/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ByteCursor {
        const uint8_t *at; /* borrowed */
        size_t n;          /* left */
        bool has_failed;
} ByteCursor;

static inline const uint8_t *byte_cursor_take(ByteCursor *cursor, size_t n)
{
        const uint8_t *at = cursor->at;

        if (cursor->has_failed || n > cursor->n) {
                cursor->has_failed = true;
                return NULL;
        }
        cursor->at += n;
        cursor->n -= n;
        return at;
}

static inline uint8_t byte_cursor_u8(ByteCursor *cursor)
{
        const uint8_t *at = byte_cursor_take(cursor, 1);

        return at ? at[0] : 0;
}

static inline uint16_t byte_cursor_u16(ByteCursor *cursor)
{
        const uint8_t *at = byte_cursor_take(cursor, 2);

        return at ? (uint16_t)(at[0] | at[1] << 8) : 0;
}

static inline uint32_t byte_cursor_u32(ByteCursor *cursor)
{
        const uint8_t *at = byte_cursor_take(cursor, 4);

        return at ? bytes_u32(at) : 0;
}

static inline uint64_t byte_cursor_u64(ByteCursor *cursor)
{
        const uint8_t *at = byte_cursor_take(cursor, 8);

        return at ? bytes_u64(at) : 0;
}

/* Unsigned LEB128. A number of more than 64 bits fails. */
static inline uint64_t byte_cursor_varint(ByteCursor *cursor)
{
        uint64_t value = 0;
        unsigned shift;

        for (shift = 0; shift < 64; shift += 7) {
                const uint8_t byte = byte_cursor_u8(cursor);

                value |= (uint64_t)(byte & 0x7f) << shift;
                if (!(byte & 0x80))
                        return value;
        }
        cursor->has_failed = true;
        return 0;
}

/* A compressed unsigned number (ECMA-335, II.23.2). RET_BITS: size of its encoding in bits. */
static inline uint32_t byte_cursor_compressed(ByteCursor *cursor, unsigned *ret_bits)
{
        uint32_t first = byte_cursor_u8(cursor), rest;

        if (!(first & 0x80)) {
                *ret_bits = 7;
                return first;
        }
        if (!(first & 0x40)) {
                *ret_bits = 14;
                return (first & 0x3f) << 8 | byte_cursor_u8(cursor);
        }
        *ret_bits = 29;
        if (first & 0x20)
                cursor->has_failed = true;
        rest = (uint32_t)byte_cursor_u8(cursor) << 16;
        rest |= (uint32_t)byte_cursor_u8(cursor) << 8;
        rest |= byte_cursor_u8(cursor);
        return (first & 0x1f) << 24 | rest;
}

static inline uint32_t byte_cursor_unsigned(ByteCursor *cursor)
{
        unsigned bits;

        return byte_cursor_compressed(cursor, &bits);
}

/* A compressed signed number, with the sign in the lowest bit. */
static inline int32_t byte_cursor_signed(ByteCursor *cursor)
{
        unsigned bits;
        uint32_t number = byte_cursor_compressed(cursor, &bits);
        int32_t value = (int32_t)(number >> 1);

        return number & 1 ? value - (1 << (bits - 1)) : value;
}
