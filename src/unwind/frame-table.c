/* SPDX-License-Identifier: MIT */
#include "unwind/frame-table.h"

#include "unwind/leb128.h"
#include "util/array.h"

#include <stdlib.h>
#include <string.h>

/* Encodings of pointers: their form, and their base. */
enum {
        POINTER_ABSOLUTE = 0x00,
        POINTER_ULEB = 0x01,
        POINTER_U2 = 0x02,
        POINTER_U4 = 0x03,
        POINTER_U8 = 0x04,
        POINTER_SLEB = 0x09,
        POINTER_S2 = 0x0a,
        POINTER_S4 = 0x0b,
        POINTER_S8 = 0x0c,
        POINTER_STORED = 0x0f,
        POINTER_TO_PLACE = 0x10, /* relative to the pointer's own place */
        POINTER_OMITTED = 0xff,
};

/* In place of a length of 32 bits: a length of 64 bits follows. */
#define LONG_LENGTH UINT32_MAX

/* A record of the section: a common one, or that of a function. */
typedef struct FrameRecord {
        ByteCursor cursor; /* after its length and its kind */
        uint64_t common;   /* the place of its common record; UINT64_MAX: it is a common one */
} FrameRecord;

/* The part of a common record for the functions that refer to it. */
typedef struct FrameCommon {
        uint64_t at; /* UINT64_MAX: none was read */
        FrameEntry entry;
        bool is_valid;
        bool has_lengths; /* augmentation data begin with their length */
} FrameCommon;

bool frame_pointer_take(ByteCursor *cursor, uint8_t encoding, uint64_t position, uint64_t *ret)
{
        uint64_t value;

        switch (encoding & POINTER_STORED) {
        case POINTER_ABSOLUTE:
        case POINTER_U8:
        case POINTER_S8:
                value = byte_cursor_u64(cursor);
                break;
        case POINTER_ULEB:
                value = leb128_unsigned(cursor);
                break;
        case POINTER_U2:
                value = byte_cursor_u16(cursor);
                break;
        case POINTER_U4:
                value = byte_cursor_u32(cursor);
                break;
        case POINTER_SLEB:
                value = (uint64_t)leb128_signed(cursor);
                break;
        case POINTER_S2:
                value = (uint64_t)(int16_t)byte_cursor_u16(cursor);
                break;
        case POINTER_S4:
                value = (uint64_t)(int32_t)byte_cursor_u32(cursor);
                break;
        default:
                return false;
        }
        switch (encoding & ~POINTER_STORED) {
        case 0:
                break;
        case POINTER_TO_PLACE:
                value += position;
                break;
        default:
                return false;
        }
        *ret = value;
        return !cursor->has_failed;
}

/* The record at AT; *RET_NEXT is the place of the next one. False: it is incomplete. */
static bool table_take_record(const FrameTable *table, uint64_t at, FrameRecord *ret,
                              uint64_t *ret_next)
{
        ByteCursor cursor = {.at = table->bytes + at, .n = table->n_bytes - at};
        uint64_t length = byte_cursor_u32(&cursor), kind, kind_at;
        const bool is_long = length == LONG_LENGTH;

        if (is_long)
                length = byte_cursor_u64(&cursor);
        kind_at = (uint64_t)(cursor.at - table->bytes);
        if (cursor.has_failed || length > cursor.n)
                return false;
        cursor.n = length;
        *ret_next = kind_at + length;
        *ret = (FrameRecord){.common = UINT64_MAX};
        /* The linker writes an empty one at the end of each input file. */
        if (length == 0)
                return true;
        kind = is_long && table->is_debug ? byte_cursor_u64(&cursor) : byte_cursor_u32(&cursor);
        if (table->is_debug) {
                if (kind != (is_long ? UINT64_MAX : UINT32_MAX))
                        ret->common = kind;
        } else if (kind != 0) {
                ret->common = kind_at - kind;
        }
        ret->cursor = cursor;
        return !cursor.has_failed;
}

/* The letters of an augmentation, after "z", and their data. */
static bool common_take_augmentation(FrameCommon *common, const char *letters, ByteCursor data)
{
        for (; *letters; letters++)
                switch (*letters) {
                case 'R':
                        common->entry.encoding = byte_cursor_u8(&data);
                        break;
                case 'L':
                        byte_cursor_u8(&data);
                        break;
                case 'P': {
                        const uint8_t encoding = byte_cursor_u8(&data);
                        uint64_t ignored;

                        /* A pointer to the handler of exceptions. */
                        if (encoding != POINTER_OMITTED &&
                            !frame_pointer_take(&data, encoding & POINTER_STORED, 0, &ignored))
                                return false;
                        break;
                }
                case 'S':
                        common->entry.is_signal = true;
                        break;
                default:
                        return false;
                }
        return !data.has_failed;
}

static bool common_take(FrameCommon *common, const FrameTable *table, ByteCursor cursor)
{
        const uint8_t version = byte_cursor_u8(&cursor);
        const char *augmentation = (const char *)cursor.at;
        const uint8_t *end = cursor.n ? memchr(cursor.at, 0, cursor.n) : NULL;

        if (!end || (version != 1 && version != 3 && !(table->is_debug && version == 4)))
                return false;
        byte_cursor_take(&cursor, (size_t)(end - cursor.at) + 1);
        /* The sizes of an address and of a segment's number. */
        if (version == 4 &&
            (byte_cursor_u8(&cursor) != sizeof(uint64_t) || byte_cursor_u8(&cursor) != 0))
                return false;
        common->entry = (FrameEntry){.code_units = leb128_unsigned(&cursor)};
        common->entry.data_units = leb128_signed(&cursor);
        common->entry.return_register =
                version == 1 ? byte_cursor_u8(&cursor) : leb128_unsigned(&cursor);
        common->has_lengths = *augmentation == 'z';
        if (common->has_lengths) {
                const uint64_t n = leb128_unsigned(&cursor);
                const uint8_t *data = byte_cursor_take(&cursor, n);

                if (!data || !common_take_augmentation(common, augmentation + 1,
                                                       (ByteCursor){.at = data, .n = n}))
                        return false;
        } else if (*augmentation) {
                return false;
        }
        common->entry.common = cursor;
        return !cursor.has_failed;
}

/* Reads the common record at AT, unless it was the last one read. */
static bool common_read(FrameCommon *common, const FrameTable *table, uint64_t at)
{
        FrameRecord record;
        uint64_t next;

        if (common->at == at)
                return common->is_valid;
        common->at = at;
        common->is_valid = at < table->n_bytes && table_take_record(table, at, &record, &next) &&
                           record.common == UINT64_MAX &&
                           record.cursor.n <= FRAME_TABLE_MAX_RECORD &&
                           common_take(common, table, record.cursor);
        return common->is_valid;
}

/* Reads the record of a function. */
static bool entry_read(const FrameTable *table, FrameCommon *common, const FrameRecord *record,
                       FrameEntry *ret)
{
        ByteCursor cursor = record->cursor;
        uint64_t position = table->address + (uint64_t)(cursor.at - table->bytes);

        if (cursor.n > FRAME_TABLE_MAX_RECORD || !common_read(common, table, record->common))
                return false;
        *ret = common->entry;
        if (!frame_pointer_take(&cursor, ret->encoding, position, &ret->begin) ||
            !frame_pointer_take(&cursor, ret->encoding & POINTER_STORED, 0, &ret->size))
                return false;
        if (common->has_lengths)
                byte_cursor_take(&cursor, leb128_unsigned(&cursor));
        ret->own = cursor;
        ret->position = table->address + (uint64_t)(cursor.at - table->bytes);
        return !cursor.has_failed;
}

static bool table_add_row(FrameTable *table, size_t *n_room, const FrameRange *row)
{
        if (!array_grow(&table->rows, n_room, table->n_rows + 1, sizeof(*table->rows)))
                return false;
        table->rows[table->n_rows++] = *row;
        return true;
}

static int row_compare(const void *one, const void *other)
{
        const FrameRange *a = one, *b = other;

        return a->begin != b->begin ? (a->begin > b->begin) - (a->begin < b->begin)
                                    : (a->at > b->at) - (a->at < b->at);
}

/* Linkers usually write them in the order of their addresses. */
static bool rows_are_sorted(const FrameTable *table)
{
        size_t i;

        for (i = 1; i < table->n_rows; i++)
                if (row_compare(&table->rows[i - 1], &table->rows[i]) > 0)
                        return false;
        return true;
}

/* False: no memory. */
static bool table_read_rows(FrameTable *table)
{
        FrameCommon common = {.at = UINT64_MAX};
        uint64_t at = 0, next;
        FrameRecord record;
        FrameEntry entry;
        size_t n_room = 0;

        for (; at < table->n_bytes && table_take_record(table, at, &record, &next); at = next) {
                FrameRange row = {.at = (uint32_t)at};

                if (record.common == UINT64_MAX || !entry_read(table, &common, &record, &entry) ||
                    entry.size == 0 || entry.size > UINT32_MAX ||
                    entry.size > UINT64_MAX - entry.begin)
                        continue;
                row.begin = entry.begin;
                row.size = (uint32_t)entry.size;
                if (!table_add_row(table, &n_room, &row))
                        return false;
        }
        if (!rows_are_sorted(table))
                qsort(table->rows, table->n_rows, sizeof(*table->rows), row_compare);
        return true;
}

/* Copies N bytes at OFFSET of the file, which are at ADDRESS. */
static bool table_copy(FrameTable *table, const ElfFile *file, uint64_t offset, uint64_t n,
                       uint64_t address)
{
        table->bytes = elf_file_copy(file, offset, n, FRAME_TABLE_MAX_BYTES);
        table->n_bytes = table->bytes ? (size_t)n : 0;
        table->address = address;
        return table->bytes != NULL;
}

/* By the header of .eh_frame, for a file without sections. Up to the end of its segment. */
static bool table_copy_by_header(FrameTable *table, const ElfFile *file, const Elf64_Phdr *header)
{
        uint8_t bytes[4 + sizeof(uint64_t)];
        ByteCursor cursor = {.at = bytes + 4, .n = sizeof(uint64_t)};
        uint64_t address;
        unsigned i;

        /* A version, three encodings, and the pointer. */
        if (header->p_filesz < sizeof(bytes) ||
            !elf_file_read(file, header->p_offset, bytes, sizeof(bytes)) || bytes[0] != 1 ||
            !frame_pointer_take(&cursor, bytes[1], header->p_vaddr + 4, &address))
                return false;
        for (i = 0; i < file->n_segments; i++) {
                const Elf64_Phdr *segment = &file->segments[i];
                const uint64_t skipped = address - segment->p_vaddr;
                uint64_t n;

                if (segment->p_type != PT_LOAD || address < segment->p_vaddr ||
                    skipped >= segment->p_filesz || skipped > UINT64_MAX - segment->p_offset)
                        continue;
                n = segment->p_filesz - skipped;
                return table_copy(table, file, segment->p_offset + skipped,
                                  n < FRAME_TABLE_MAX_BYTES ? n : FRAME_TABLE_MAX_BYTES, address);
        }
        return false;
}

static bool table_find_section(FrameTable *table, const ElfFile *file)
{
        const Elf64_Shdr *section =
                elf_file_section(file, table->is_debug ? ".debug_frame" : ".eh_frame");
        unsigned i;

        if (section)
                return !(section->sh_flags & SHF_COMPRESSED) &&
                       table_copy(table, file, section->sh_offset, section->sh_size,
                                  section->sh_addr);
        for (i = 0; !table->is_debug && i < file->n_segments; i++)
                if (file->segments[i].p_type == PT_GNU_EH_FRAME)
                        return table_copy_by_header(table, file, &file->segments[i]);
        return false;
}

bool frame_table_read(FrameTable *ret, const ElfFile *file, FrameSection section)
{
        FrameTable table = {.is_debug = section == FRAME_SECTION_DEBUG};

        if (!table_find_section(&table, file) || !table_read_rows(&table)) {
                frame_table_deinit(&table);
                return false;
        }
        *ret = table;
        return true;
}

void frame_table_deinit(FrameTable *table)
{
        free(table->bytes);
        free(table->rows);
        *table = (FrameTable){0};
}

size_t frame_table_size(const FrameTable *table)
{
        return table->n_bytes + table->n_rows * sizeof(*table->rows);
}

bool frame_table_find(const FrameTable *table, uint64_t address, FrameEntry *ret)
{
        FrameCommon common = {.at = UINT64_MAX};
        size_t low = 0, high = table->n_rows;
        const FrameRange *row;
        FrameRecord record;
        uint64_t next;

        while (low < high) {
                const size_t middle = low + (high - low) / 2;

                if (table->rows[middle].begin <= address)
                        low = middle + 1;
                else
                        high = middle;
        }
        if (low == 0)
                return false;
        row = &table->rows[low - 1];
        return address - row->begin < row->size &&
               table_take_record(table, row->at, &record, &next) &&
               entry_read(table, &common, &record, ret);
}
