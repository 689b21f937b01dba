/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Cursor: reads little-endian numbers from bytes that may end anywhere
 *
 * A read past the end yields 0 and sets is_short; a caller checks that once, after a whole
 * structure.
 */

#include "util/bytes.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct NettraceCursor {
        const uint8_t *at;
        const uint8_t *end;
        bool is_short;
} NettraceCursor;

/* BYTES can be NULL if N is 0. */
static inline NettraceCursor nettrace_cursor(const uint8_t *bytes, size_t n)
{
        return (NettraceCursor){bytes, n ? bytes + n : bytes, false};
}

static inline size_t nettrace_left(const NettraceCursor *cursor)
{
        return (size_t)(cursor->end - cursor->at);
}

/* The next N bytes; NULL if there are fewer. */
static inline const uint8_t *nettrace_bytes(NettraceCursor *cursor, size_t n)
{
        const uint8_t *bytes = cursor->at;

        if (nettrace_left(cursor) < n) {
                cursor->is_short = true;
                cursor->at = cursor->end;
                return NULL;
        }
        cursor->at += n;
        return bytes;
}

static inline uint64_t nettrace_number(NettraceCursor *cursor, unsigned n)
{
        const uint8_t *bytes = nettrace_bytes(cursor, n);

        return bytes ? bytes_number(bytes, n) : 0;
}

static inline uint16_t nettrace_u16(NettraceCursor *cursor)
{
        return (uint16_t)nettrace_number(cursor, 2);
}

static inline uint32_t nettrace_u32(NettraceCursor *cursor)
{
        return (uint32_t)nettrace_number(cursor, 4);
}

static inline uint64_t nettrace_u64(NettraceCursor *cursor)
{
        return nettrace_number(cursor, 8);
}

/* LEB128, unsigned. A number longer than 10 bytes, or over 64 bits, counts as truncated. */
static inline uint64_t nettrace_varint(NettraceCursor *cursor)
{
        uint64_t value = 0;
        unsigned shift;

        for (shift = 0; shift < 64 && cursor->at < cursor->end; shift += 7) {
                uint8_t byte = *cursor->at++;

                if (shift == 63 && byte > 1)
                        break;
                value |= (uint64_t)(byte & 0x7f) << shift;
                if (!(byte & 0x80))
                        return value;
        }
        cursor->is_short = true;
        cursor->at = cursor->end;
        return 0;
}

static inline uint32_t nettrace_varint32(NettraceCursor *cursor)
{
        uint64_t value = nettrace_varint(cursor);

        if (value <= UINT32_MAX)
                return (uint32_t)value;
        cursor->is_short = true;
        return 0;
}
