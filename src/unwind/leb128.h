/* SPDX-License-Identifier: MIT */
#pragma once

/* LEB128: numbers of DWARF, seven bits a byte (DWARF 5, section 7.6). Bits above the 64th are
 * dropped. */

#include "metadata/byte-cursor.h"

static inline uint64_t leb128_take(ByteCursor *cursor, unsigned *ret_bits, bool *ret_is_negative)
{
        uint64_t value = 0;
        uint8_t byte;

        *ret_bits = 0;
        do {
                byte = byte_cursor_u8(cursor);
                if (*ret_bits < 64)
                        value |= (uint64_t)(byte & 0x7f) << *ret_bits;
                *ret_bits += 7;
        } while (byte & 0x80);
        *ret_is_negative = byte & 0x40;
        return value;
}

static inline uint64_t leb128_unsigned(ByteCursor *cursor)
{
        bool is_negative;
        unsigned bits;

        return leb128_take(cursor, &bits, &is_negative);
}

static inline int64_t leb128_signed(ByteCursor *cursor)
{
        bool is_negative;
        unsigned bits;
        uint64_t value = leb128_take(cursor, &bits, &is_negative);

        if (is_negative && bits < 64)
                value |= UINT64_MAX << bits;
        return (int64_t)value;
}
