/* SPDX-License-Identifier: MIT */
#include "metadata/metadata.h"

#include "metadata/metadata-layout.h"

#include <string.h>

#define SIGNATURE        0x424a5342u /* "BSJB" */
#define MAX_VERSION      256u
#define MAX_STREAMS      64u
#define MAX_STREAM_NAME  32u
#define MAX_ROWS         0xffffffu /* a token has 24 bits for a row */
#define HEAP_STRINGS     0x01
#define HEAP_GUIDS       0x02
#define HEAP_BLOBS       0x04
#define HEAP_EXTRA       0x40
#define GUID_SIZE        16u
#define PDB_ID_AND_ENTRY 24u

#define TRUNCATED     "its metadata is shorter than its tables"
#define NOT_METADATA  "it has no metadata"
#define UNKNOWN_TABLE "its metadata has a table that is not known"
#define CONTRADICTION "its metadata contradicts itself"
#define UNCOMPRESSED  "its metadata is that of an edited program, which is not read"

/* The numbers that determine the widths of cells. */
typedef struct MetadataWidths {
        uint32_t n_rows[64];
        uint8_t heaps;
} MetadataWidths;

static bool metadata_refuse(const char **ret_reason, const char *reason)
{
        *ret_reason = reason;
        return false;
}

/* The name of a stream, padded to a multiple of 4. */
static bool take_stream_name(ByteCursor *cursor, const char **ret_name)
{
        size_t n_most = cursor->n < MAX_STREAM_NAME ? cursor->n : MAX_STREAM_NAME;
        const char *name = (const char *)cursor->at;
        const char *end = n_most ? memchr(name, 0, n_most) : NULL;

        if (!end)
                return false;
        *ret_name = name;
        byte_cursor_take(cursor, ((size_t)(end - name) + 4) & ~(size_t)3);
        return !cursor->has_failed;
}

static MetadataSpan *stream_span(Metadata *metadata, MetadataSpan *tables, const char *name)
{
        return !strcmp(name, "#~")         ? tables
               : !strcmp(name, "#Strings") ? &metadata->strings
               : !strcmp(name, "#Blob")    ? &metadata->blobs
               : !strcmp(name, "#GUID")    ? &metadata->guids
               : !strcmp(name, "#Pdb")     ? &metadata->pdb
                                           : NULL;
}

static bool read_root(Metadata *metadata, const uint8_t *bytes, size_t n, MetadataSpan *ret_tables,
                      const char **ret_reason)
{
        ByteCursor cursor = {.at = bytes, .n = n};
        uint32_t n_version;
        unsigned i, n_streams;

        if (byte_cursor_u32(&cursor) != SIGNATURE)
                return metadata_refuse(ret_reason, NOT_METADATA);
        byte_cursor_take(&cursor, 8);
        n_version = byte_cursor_u32(&cursor);
        if (n_version > MAX_VERSION)
                return metadata_refuse(ret_reason, CONTRADICTION);
        byte_cursor_take(&cursor, n_version);
        byte_cursor_u16(&cursor);
        n_streams = byte_cursor_u16(&cursor);
        if (cursor.has_failed || n_streams > MAX_STREAMS)
                return metadata_refuse(ret_reason, CONTRADICTION);
        for (i = 0; i < n_streams; i++) {
                uint32_t offset = byte_cursor_u32(&cursor), size = byte_cursor_u32(&cursor);
                const char *name;
                MetadataSpan *span;

                if (cursor.has_failed || !take_stream_name(&cursor, &name))
                        return metadata_refuse(ret_reason, CONTRADICTION);
                if (offset > n || size > n - offset)
                        return metadata_refuse(ret_reason, TRUNCATED);
                if (!strcmp(name, "#-") || !strcmp(name, "#JTD"))
                        return metadata_refuse(ret_reason, UNCOMPRESSED);
                span = stream_span(metadata, ret_tables, name);
                if (!span)
                        continue;
                if (span->at)
                        return metadata_refuse(ret_reason, CONTRADICTION);
                *span = (MetadataSpan){bytes + offset, size};
        }
        return ret_tables->at || metadata_refuse(ret_reason, NOT_METADATA);
}

/* Reads the row counts of the PDB's assembly, which determine the widths of indexes. */
static bool read_referenced_rows(const Metadata *metadata, MetadataWidths *widths,
                                 const char **ret_reason)
{
        ByteCursor cursor = {.at = metadata->pdb.at, .n = metadata->pdb.n};
        uint64_t tables;
        unsigned i;

        if (!metadata->pdb.at)
                return true;
        byte_cursor_take(&cursor, PDB_ID_AND_ENTRY);
        tables = byte_cursor_u64(&cursor);
        for (i = 0; i < 64; i++) {
                if (!(tables >> i & 1))
                        continue;
                widths->n_rows[i] = byte_cursor_u32(&cursor);
                if (widths->n_rows[i] > MAX_ROWS)
                        return metadata_refuse(ret_reason, CONTRADICTION);
        }
        return !cursor.has_failed || metadata_refuse(ret_reason, TRUNCATED);
}

static uint8_t column_width(const MetadataWidths *widths, uint8_t kind)
{
        const MetadataTags *tags;
        unsigned i;

        switch (kind) {
        case COLUMN_U16:
                return 2;
        case COLUMN_U32:
                return 4;
        case COLUMN_STRING:
                return widths->heaps & HEAP_STRINGS ? 4 : 2;
        case COLUMN_GUID:
                return widths->heaps & HEAP_GUIDS ? 4 : 2;
        case COLUMN_BLOB:
                return widths->heaps & HEAP_BLOBS ? 4 : 2;
        default:
                break;
        }
        if (kind < COLUMN_CODED)
                return widths->n_rows[kind] >= 0x10000 ? 4 : 2;
        tags = &metadata_tags[kind - COLUMN_CODED];
        for (i = 0; i < tags->n; i++)
                if (tags->tables[i] != METADATA_NO_TABLE &&
                    widths->n_rows[tags->tables[i]] >= 0x10000u >> tags->n_bits)
                        return 4;
        return 2;
}

static void lay_out(MetadataRows *rows, const MetadataColumns *columns,
                    const MetadataWidths *widths)
{
        unsigned i;

        rows->n_columns = columns->n;
        for (i = 0; i < columns->n; i++) {
                rows->begin[i] = (uint8_t)rows->size;
                rows->width[i] = column_width(widths, columns->kinds[i]);
                rows->size = (uint16_t)(rows->size + rows->width[i]);
        }
}

static bool read_tables(Metadata *metadata, const MetadataSpan *tables, const char **ret_reason)
{
        ByteCursor cursor = {.at = tables->at, .n = tables->n};
        MetadataWidths widths = {0};
        uint64_t valid;
        unsigned i;

        byte_cursor_take(&cursor, 6);
        widths.heaps = byte_cursor_u8(&cursor);
        byte_cursor_take(&cursor, 1);
        valid = byte_cursor_u64(&cursor);
        byte_cursor_take(&cursor, 8);
        if (!read_referenced_rows(metadata, &widths, ret_reason))
                return false;
        for (i = 0; i < 64; i++) {
                uint32_t n;

                if (!(valid >> i & 1))
                        continue;
                n = byte_cursor_u32(&cursor);
                if (i >= _METADATA_TABLE_MAX || !metadata_columns[i].n)
                        return metadata_refuse(ret_reason, UNKNOWN_TABLE);
                if (n > MAX_ROWS)
                        return metadata_refuse(ret_reason, CONTRADICTION);
                metadata->tables[i].n = widths.n_rows[i] = n;
        }
        if (widths.heaps & HEAP_EXTRA)
                byte_cursor_take(&cursor, 4);
        for (i = 0; i < _METADATA_TABLE_MAX; i++) {
                MetadataRows *rows = &metadata->tables[i];

                if (!rows->n)
                        continue;
                lay_out(rows, &metadata_columns[i], &widths);
                rows->at = byte_cursor_take(&cursor, (size_t)rows->n * rows->size);
        }
        return !cursor.has_failed || metadata_refuse(ret_reason, TRUNCATED);
}

bool metadata_read(Metadata *ret, const uint8_t *bytes, size_t n, const char **ret_reason)
{
        Metadata metadata = {0};
        MetadataSpan tables = {0};

        if (!read_root(&metadata, bytes, n, &tables, ret_reason) ||
            !read_tables(&metadata, &tables, ret_reason))
                return false;
        *ret = metadata;
        return true;
}

bool metadata_cell(const Metadata *metadata, MetadataTable table, uint32_t rid, unsigned column,
                   uint32_t *ret)
{
        const MetadataRows *rows = &metadata->tables[table];
        ByteCursor cursor;

        if (!rid || rid > rows->n || column >= rows->n_columns)
                return false;
        cursor = (ByteCursor){.at = rows->at + (size_t)(rid - 1) * rows->size + rows->begin[column],
                              .n = rows->width[column]};
        *ret = cursor.n == 2 ? byte_cursor_u16(&cursor) : byte_cursor_u32(&cursor);
        return true;
}

const char *metadata_string(const Metadata *metadata, uint32_t index)
{
        const MetadataSpan *heap = &metadata->strings;

        if (index >= heap->n || !memchr(heap->at + index, 0, heap->n - index))
                return NULL;
        return (const char *)heap->at + index;
}

const char *metadata_cell_string(const Metadata *metadata, MetadataTable table, uint32_t rid,
                                 unsigned column)
{
        uint32_t index;

        return metadata_cell(metadata, table, rid, column, &index)
                       ? metadata_string(metadata, index)
                       : NULL;
}

bool metadata_blob(const Metadata *metadata, uint32_t index, MetadataSpan *ret)
{
        const MetadataSpan *heap = &metadata->blobs;
        ByteCursor cursor;
        uint32_t n;

        if (index >= heap->n)
                return false;
        cursor = (ByteCursor){.at = heap->at + index, .n = heap->n - index};
        n = byte_cursor_unsigned(&cursor);
        if (cursor.has_failed || n > cursor.n)
                return false;
        *ret = (MetadataSpan){cursor.at, n};
        return true;
}

const uint8_t *metadata_guid(const Metadata *metadata, uint32_t index)
{
        if (!index || index > metadata->guids.n / GUID_SIZE)
                return NULL;
        return metadata->guids.at + (size_t)(index - 1) * GUID_SIZE;
}

bool metadata_decode(MetadataCode code, uint32_t value, MetadataTable *ret_table, uint32_t *ret_rid)
{
        const MetadataTags *tags = &metadata_tags[code];
        uint32_t tag = value & ((1u << tags->n_bits) - 1);

        if (tag >= tags->n || tags->tables[tag] == METADATA_NO_TABLE)
                return false;
        *ret_table = (MetadataTable)tags->tables[tag];
        *ret_rid = value >> tags->n_bits;
        return true;
}
