/* SPDX-License-Identifier: MIT */
#include "metadata/native-format.h"

/* Elements of an array that share an index entry. */
#define ARRAY_BLOCK 16u

/* Reads N bytes, little-endian. False: fewer are left. */
static bool native_bytes(const NativeTable *table, size_t offset, unsigned n, uint32_t *ret)
{
        uint32_t value = 0;
        unsigned i;

        if (offset > table->n || n > table->n - offset)
                return false;
        for (i = 0; i < n; i++)
                value |= (uint32_t)table->at[offset + i] << 8 * i;
        *ret = value;
        return true;
}

/* Reads the number's bytes; RET_BITS of them are its value. False: no number. */
static bool native_read(const NativeTable *table, size_t *offset, uint32_t *ret, unsigned *ret_bits)
{
        uint32_t first;
        unsigned n;

        if (!native_bytes(table, *offset, 1, &first))
                return false;
        for (n = 1; n < 5 && first & 1u << (n - 1); n++)
                ;
        if (n == 5 && first & 16)
                return false;
        if (!native_bytes(table, n == 5 ? *offset + 1 : *offset, n == 5 ? 4 : n, ret))
                return false;
        *ret_bits = n == 5 ? 32 : 7 * n;
        if (n < 5)
                *ret >>= n;
        *offset += n;
        return true;
}

bool native_number(const NativeTable *table, size_t *offset, uint32_t *ret)
{
        unsigned bits;

        return native_read(table, offset, ret, &bits);
}

static bool native_signed(const NativeTable *table, size_t *offset, int64_t *ret)
{
        uint32_t value;
        unsigned bits;

        if (!native_read(table, offset, &value, &bits))
                return false;
        *ret = (int64_t)value - (value >> (bits - 1) & 1 ? INT64_C(1) << bits : 0);
        return true;
}

/*
 * Reads the array's head: its number of elements, the size of an offset, and the begin of the
 * index.
 */
static bool native_array_head(const NativeTable *table, uint32_t *ret_n, unsigned *ret_size,
                              size_t *ret_base)
{
        uint32_t head;

        *ret_base = 0;
        if (!native_number(table, ret_base, &head) || (head & 3) == 3)
                return false;
        *ret_n = head >> 2;
        *ret_size = 1u << (head & 3);
        return true;
}

uint32_t native_array_n(const NativeTable *table)
{
        unsigned size;
        uint32_t n;
        size_t base;

        return native_array_head(table, &n, &size, &base) ? n : 0;
}

bool native_array_find(const NativeTable *table, uint32_t i, size_t *ret_offset)
{
        uint32_t n, block, node;
        size_t base, at;
        unsigned size, bit;

        if (!native_array_head(table, &n, &size, &base) || i >= n ||
            !native_bytes(table, base + (size_t)(i / ARRAY_BLOCK) * size, size, &block))
                return false;
        at = base + block;
        /* Descend a binary tree: the first branch of a node follows it directly. */
        for (bit = ARRAY_BLOCK / 2; bit; bit /= 2) {
                size_t next = at;

                if (!native_number(table, &next, &node))
                        return false;
                if (i & bit ? node & 2 : node & 1) {
                        at = i & bit ? at + (node >> 2) : next;
                        continue;
                }
                /* The node can also be a single element. */
                if (node & 3 || node >> 2 != i % ARRAY_BLOCK)
                        return false;
                at = next;
                break;
        }
        *ret_offset = at;
        return at < table->n;
}

static bool native_walk_bucket(NativeWalk *walk)
{
        size_t index = 1 + (size_t)walk->bucket * walk->index_size;
        uint32_t begin, end;

        if (!native_bytes(walk->table, index, walk->index_size, &begin) ||
            !native_bytes(walk->table, index + walk->index_size, walk->index_size, &end) ||
            begin > end)
                return false;
        walk->at = 1 + (size_t)begin;
        walk->end = 1 + (size_t)end;
        walk->bucket++;
        return walk->end <= walk->table->n;
}

bool native_walk_begin(NativeWalk *walk, const NativeTable *table)
{
        uint32_t head;

        if (!native_bytes(table, 0, 1, &head) || (head & 3) == 3 || head >> 2 > 31)
                return false;
        *walk = (NativeWalk){
                .table = table,
                .n_buckets = 1u << (head >> 2),
                .index_size = 1u << (head & 3),
        };
        return true;
}

bool native_walk_next(NativeWalk *walk, size_t *ret_offset)
{
        int64_t distance;
        size_t at;

        while (walk->at >= walk->end)
                if (walk->bucket == walk->n_buckets || !native_walk_bucket(walk))
                        return false;
        at = ++walk->at; /* after the low byte of its hash */
        if (!native_signed(walk->table, &walk->at, &distance) ||
            (distance < 0 && (uint64_t)-distance > at) ||
            (distance > 0 && (uint64_t)distance > walk->table->n - at)) {
                walk->bucket = walk->n_buckets;
                walk->at = walk->end;
                return false;
        }
        *ret_offset = at + (size_t)distance;
        return true;
}
