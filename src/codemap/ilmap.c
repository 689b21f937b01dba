/* SPDX-License-Identifier: MIT */
#include "codemap/ilmap.h"

#include "event/event.h"
#include "util/bytes.h"

#include <glib.h>
#include <string.h>

struct IlMap {
        uint64_t version;
        uint32_t n_entries;
        uint32_t n_bytes;
        uint8_t bytes[]; /* per entry: native delta, then zigzag of the IL offset's delta; LEB128 */
};

typedef struct IlMapEntry {
        uint32_t native;
        int32_t il;
        uint32_t order; /* in the runtime's list */
} IlMapEntry;

static int il_map_entry_compare(const void *a, const void *b)
{
        const IlMapEntry *x = a, *y = b;

        if (x->native != y->native)
                return x->native < y->native ? -1 : 1;
        return x->order < y->order ? -1 : 1;
}

static uint8_t *leb128_put(uint8_t *p, uint64_t u)
{
        for (; u >= 0x80; u >>= 7)
                *p++ = (uint8_t)(u | 0x80);
        *p++ = (uint8_t)u;
        return p;
}

static const uint8_t *leb128_get_long(const uint8_t *p, uint64_t *ret_u)
{
        unsigned shift = 0;

        for (*ret_u = 0; *p & 0x80; shift += 7)
                *ret_u |= (uint64_t)(*p++ & 0x7f) << shift;
        *ret_u |= (uint64_t)*p++ << shift;
        return p;
}

/* Nearly all numbers are one byte. */
static inline const uint8_t *leb128_get(const uint8_t *p, uint64_t *ret_u)
{
        *ret_u = *p;
        return *p & 0x80 ? leb128_get_long(p, ret_u) : p + 1;
}

IlMap *ilmap_new(const uint8_t *il_offsets, const uint8_t *native_offsets, uint32_t n,
                 uint64_t il_version)
{
        g_autofree IlMapEntry *entries = g_new(IlMapEntry, MAX(n, 1));
        g_autofree uint8_t *bytes = g_malloc((size_t)n * 10 + 1);
        uint8_t *end = bytes;
        uint32_t native = 0, i;
        int64_t il = 0;
        IlMap *map;

        for (i = 0; i < n; i++)
                entries[i] = (IlMapEntry){bytes_u32(native_offsets + 4 * (size_t)i),
                                          (int32_t)bytes_u32(il_offsets + 4 * (size_t)i), i};
        qsort(entries, n, sizeof(*entries), il_map_entry_compare);
        for (i = 0; i < n; i++) {
                int64_t delta = entries[i].il - il;

                end = leb128_put(end, entries[i].native - native);
                end = leb128_put(end, ((uint64_t)delta << 1) ^ (uint64_t)(delta >> 63));
                native = entries[i].native;
                il = entries[i].il;
        }
        map = g_malloc(sizeof(*map) + (size_t)(end - bytes));
        map->version = il_version;
        map->n_entries = n;
        map->n_bytes = (uint32_t)(end - bytes);
        memcpy(map->bytes, bytes, map->n_bytes);
        return map;
}

void ilmap_free(IlMap *map)
{
        g_free(map);
}

uint64_t ilmap_version(const IlMap *map)
{
        return map->version;
}

size_t ilmap_size(const IlMap *map)
{
        return sizeof(*map) + map->n_bytes;
}

size_t ilmap_n_entries(const IlMap *map)
{
        return map->n_entries;
}

/*
 * Chooses between two IL offsets of one native offset: true if IL wins. A real offset wins over
 * NO_MAPPING; the body wins over an empty prolog; else the lower offset wins, as in the runtime.
 */
static bool il_offset_wins(int32_t il, int32_t other)
{
        if (il == IL_OFFSET_NO_MAPPING)
                return false;
        if (il == 0 && other == IL_OFFSET_PROLOG)
                return true;
        return il < other && !(il == IL_OFFSET_PROLOG && other == 0);
}

bool ilmap_lookup(const IlMap *map, uint32_t native_offset, int32_t *ret_il_offset)
{
        const uint8_t *p = map->bytes;
        uint32_t native = 0, i;
        int64_t il = 0;
        bool found = false;

        for (i = 0; i < map->n_entries; i++) {
                uint64_t delta, zigzag;

                p = leb128_get(p, &delta);
                p = leb128_get(p, &zigzag);
                native += (uint32_t)delta;
                if (native > native_offset)
                        break;
                il += (int64_t)(zigzag >> 1) ^ -(int64_t)(zigzag & 1);
                if (!found || delta || il_offset_wins((int32_t)il, *ret_il_offset))
                        *ret_il_offset = (int32_t)il;
                found = true;
        }
        return found;
}

int32_t ilmap_last(const IlMap *map)
{
        const uint8_t *p = map->bytes;
        int64_t il = 0, last = 0;
        uint32_t i;

        for (i = 0; i < map->n_entries; i++) {
                uint64_t delta, zigzag;

                p = leb128_get(p, &delta);
                p = leb128_get(p, &zigzag);
                il += (int64_t)(zigzag >> 1) ^ -(int64_t)(zigzag & 1);
                last = MAX(last, (int32_t)il);
        }
        return (int32_t)last;
}

const void *ilmap_bytes(const IlMap *map)
{
        return map;
}

IlMap *ilmap_from_bytes(const uint8_t *bytes, size_t n)
{
        IlMap head;
        uint64_t n_numbers = 0;
        unsigned n_long = 0;
        size_t i;

        if (n < sizeof(head))
                return NULL;
        memcpy(&head, bytes, sizeof(head));
        if (head.n_bytes != n - sizeof(head))
                return NULL;
        /* Each entry is two numbers, encoded in the shortest form, as by leb128_put(). */
        for (i = sizeof(head); i < n; i++) {
                n_long = bytes[i] & 0x80 ? n_long + 1 : 0;
                n_numbers += !n_long;
                if (n_long > 9)
                        return NULL;
        }
        return n_long || n_numbers != 2 * (uint64_t)head.n_entries ? NULL : g_memdup2(bytes, n);
}
