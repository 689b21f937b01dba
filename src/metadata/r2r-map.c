/* SPDX-License-Identifier: MIT */
#include "metadata/r2r-map.h"

#include <errno.h>
#include <stdlib.h>

/* Added to IL offsets in the file, so that R2R_IL_* are not negative. */
#define IL_BIAS 3u

/*
 * Numbers in nibbles, the lower nibble of a byte first. Three bits of each nibble belong to the
 * number, the most significant ones first; the fourth bit is set if more nibbles follow.
 */
typedef struct NibbleReader {
        const uint8_t *at; /* borrowed */
        size_t n, i;       /* in nibbles */
        bool has_failed;
} NibbleReader;

static uint32_t nibble_number(NibbleReader *reader)
{
        uint32_t value = 0;
        unsigned nibble, n_read = 0;

        do {
                /* 32 bits are eleven nibbles. */
                if (reader->i >= reader->n || n_read++ == 11) {
                        reader->has_failed = true;
                        return 0;
                }
                nibble = reader->at[reader->i / 2] >> 4 * (reader->i % 2) & 15;
                reader->i++;
                value = value << 3 | (nibble & 7);
        } while (nibble & 8);
        return value;
}

/* The offset of the next whole byte. */
static size_t nibble_byte(const NibbleReader *reader)
{
        return (reader->i + 1) / 2;
}

/* Bits, the lowest bit of a byte first. */
typedef struct BitReader {
        const uint8_t *at; /* borrowed */
        size_t n, i;       /* in bits */
} BitReader;

static uint32_t bits_take(BitReader *reader, unsigned n)
{
        uint64_t value = 0;
        unsigned i;

        for (i = 0; i < n; i++, reader->i++)
                value |= (uint64_t)(reader->at[reader->i / 8] >> reader->i % 8 & 1) << i;
        return (uint32_t)value;
}

static int map_allocate(R2RMap *map, uint32_t n)
{
        map->entries = calloc(n ? n : 1, sizeof(*map->entries));
        map->n = n;
        return map->entries ? 0 : -ENOMEM;
}

static int map_read_nibbles(R2RMap *map, NibbleReader *reader)
{
        uint32_t n = nibble_number(reader), native = 0, i;

        /* Each entry has three numbers. */
        if (reader->has_failed || n > (reader->n - reader->i) / 3)
                return -EBADMSG;
        if (map_allocate(map, n) < 0)
                return -ENOMEM;
        for (i = 0; i < n; i++) {
                native += nibble_number(reader);
                map->entries[i].native = native;
                map->entries[i].il = (int32_t)(nibble_number(reader) - IL_BIAS);
                map->entries[i].source = (uint8_t)nibble_number(reader);
        }
        return reader->has_failed ? -EBADMSG : 0;
}

static int map_read_bits(R2RMap *map, NibbleReader *reader, unsigned source_bits)
{
        uint32_t n = nibble_number(reader), native_bits = nibble_number(reader) + 1,
                 il_bits = nibble_number(reader) + 1, native = 0, i;
        size_t at = nibble_byte(reader);
        BitReader bits = {.at = reader->at + at};

        if (reader->has_failed || native_bits - 1 >= 32 || il_bits - 1 >= 32)
                return -EBADMSG;
        bits.n = (reader->n / 2 - at) * 8;
        if (n > bits.n / (source_bits + native_bits + il_bits))
                return -EBADMSG;
        if (map_allocate(map, n) < 0)
                return -ENOMEM;
        for (i = 0; i < n; i++) {
                map->entries[i].source = (uint8_t)bits_take(&bits, source_bits);
                native += bits_take(&bits, native_bits);
                map->entries[i].native = native;
                map->entries[i].il = (int32_t)(bits_take(&bits, il_bits) - IL_BIAS);
        }
        return 0;
}

int r2r_map_decode(R2RMap *ret, const uint8_t *bytes, size_t n, unsigned source_bits)
{
        NibbleReader reader = {.at = bytes, .n = n * 2};
        uint32_t n_bounds = nibble_number(&reader);
        size_t at;
        int r;

        *ret = (R2RMap){0};
        nibble_number(&reader); /* size of the variables */
        at = nibble_byte(&reader);
        if (reader.has_failed || n_bounds > n - at)
                return -EBADMSG;
        if (!n_bounds)
                return map_allocate(ret, 0);
        /* The entries can use fewer bytes. */
        reader = (NibbleReader){.at = bytes + at, .n = (size_t)n_bounds * 2};
        r = source_bits ? map_read_bits(ret, &reader, source_bits) : map_read_nibbles(ret, &reader);
        if (r < 0) {
                free(ret->entries);
                *ret = (R2RMap){0};
        }
        return r;
}

/*
 * Chooses between two IL offsets of one native offset: true if IL wins. A real offset wins over
 * NO_MAPPING; the body wins over an empty prolog; else the lower offset wins.
 */
static bool il_wins(int32_t il, int32_t other)
{
        if (il == R2R_IL_NO_MAPPING)
                return false;
        if (il == 0 && other == R2R_IL_PROLOG)
                return true;
        return il < other && !(il == R2R_IL_PROLOG && other == 0);
}

bool r2r_map_lookup(const R2RMap *map, uint32_t native, int32_t *ret_il)
{
        bool is_found = false;
        uint32_t i, from = 0;

        for (i = 0; i < map->n && map->entries[i].native <= native; i++) {
                int32_t il = map->entries[i].il;

                if (is_found && map->entries[i].native == from && !il_wins(il, *ret_il))
                        continue;
                from = map->entries[i].native;
                *ret_il = il;
                is_found = true;
        }
        return is_found;
}
