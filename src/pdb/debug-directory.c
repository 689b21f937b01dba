/* SPDX-License-Identifier: MIT */
#include "pdb/debug-directory.h"

#include "metadata/byte-cursor.h"
#include "pdb/inflate.h"

#include <errno.h>
#include <stdlib.h>

#define ENTRY_SIZE         28u
#define MAX_ENTRIES        64u
#define TYPE_CODEVIEW      2u
#define TYPE_EMBEDDED      17u
#define TYPE_CHECKSUM      19u
#define MINOR_PORTABLE     0x504du
#define CODEVIEW_SIGNATURE 0x53445352u /* "RSDS" */
#define CODEVIEW_SIZE      24u
#define EMBEDDED_SIGNATURE 0x4244504du /* "MPDB" */
#define EMBEDDED_HEADER    8u
#define CHECKSUM_NAME      "SHA256"

#define DAMAGED  "its debug directory is damaged"
#define EMBEDDED "its embedded PDB is damaged"

typedef struct DebugEntry {
        uint32_t stamp, type, size, offset;
        uint16_t minor;
} DebugEntry;

static int debug_refuse(const char **ret_reason, const char *reason)
{
        *ret_reason = reason;
        return -EBADMSG;
}

static int debug_explain(int r, const char **ret_reason)
{
        if (r < 0)
                *ret_reason = r == -EBADMSG ? DAMAGED : "it cannot be read";
        return r;
}

/* PDBs of other kinds have entries, too; the first portable one counts. */
static int take_codeview(DebugDirectory *directory, const DebugEntry *entry, const PeFile *file)
{
        uint8_t bytes[CODEVIEW_SIZE + DEBUG_MAX_PATH];
        size_t n = entry->size < sizeof(bytes) ? entry->size : sizeof(bytes);
        ByteCursor cursor = {.at = bytes, .n = n};
        const uint8_t *guid;
        int r;

        if (directory->has_id)
                return 0;
        if (entry->minor != MINOR_PORTABLE) {
                directory->has_windows_pdb = true;
                return 0;
        }
        r = pe_file_read_at(file, entry->offset, bytes, n);
        if (r < 0)
                return r;
        if (byte_cursor_u32(&cursor) != CODEVIEW_SIGNATURE)
                return -EBADMSG;
        guid = byte_cursor_take(&cursor, PDB_GUID_SIZE);
        directory->age = byte_cursor_u32(&cursor);
        if (cursor.has_failed)
                return -EBADMSG;
        memcpy(directory->id.guid, guid, PDB_GUID_SIZE);
        directory->id.stamp = entry->stamp;
        directory->has_id = true;
        if (memchr(cursor.at, 0, cursor.n))
                memcpy(directory->path, cursor.at, cursor.n);
        return 0;
}

static int take_checksum(DebugDirectory *directory, const DebugEntry *entry, const PeFile *file)
{
        uint8_t bytes[sizeof(CHECKSUM_NAME) + PDB_CHECKSUM_SIZE];
        int r;

        /* The checksum of another algorithm is allowed, and not compared. */
        if (entry->size != sizeof(bytes))
                return 0;
        r = pe_file_read_at(file, entry->offset, bytes, sizeof(bytes));
        if (r < 0 || memcmp(bytes, CHECKSUM_NAME, sizeof(CHECKSUM_NAME)) != 0)
                return r;
        memcpy(directory->checksum, bytes + sizeof(CHECKSUM_NAME), PDB_CHECKSUM_SIZE);
        directory->has_checksum = true;
        return 0;
}

static int take_entry(DebugDirectory *directory, const DebugEntry *entry, const PeFile *file)
{
        switch (entry->type) {
        case TYPE_CODEVIEW:
                return take_codeview(directory, entry, file);
        case TYPE_EMBEDDED:
                if (directory->n_embedded)
                        return 0;
                if (entry->size <= EMBEDDED_HEADER || entry->offset > file->n ||
                    entry->size > file->n - entry->offset)
                        return -EBADMSG;
                directory->embedded_at = entry->offset;
                directory->n_embedded = entry->size;
                return 0;
        case TYPE_CHECKSUM:
                return take_checksum(directory, entry, file);
        default:
                return 0;
        }
}

int debug_directory_read(DebugDirectory *ret, const PeFile *file, const char **ret_reason)
{
        const PeRange *range = &file->directories[PE_DEBUG];
        uint8_t bytes[MAX_ENTRIES * ENTRY_SIZE];
        ByteCursor cursor = {.at = bytes, .n = range->size};
        uint32_t n = range->size / ENTRY_SIZE, i;
        int r;

        *ret = (DebugDirectory){0};
        if (!range->rva || !range->size)
                return 0;
        if (range->size % ENTRY_SIZE || n > MAX_ENTRIES)
                return debug_refuse(ret_reason, DAMAGED);
        r = debug_explain(pe_file_read_rva(file, range->rva, bytes, range->size), ret_reason);
        for (i = 0; r == 0 && i < n; i++) {
                DebugEntry entry;

                byte_cursor_take(&cursor, 4);
                entry.stamp = byte_cursor_u32(&cursor);
                byte_cursor_take(&cursor, 2);
                entry.minor = byte_cursor_u16(&cursor);
                entry.type = byte_cursor_u32(&cursor);
                entry.size = byte_cursor_u32(&cursor);
                byte_cursor_take(&cursor, 4);
                entry.offset = byte_cursor_u32(&cursor);
                r = debug_explain(take_entry(ret, &entry, file), ret_reason);
        }
        if (ret->has_id)
                ret->has_windows_pdb = false;
        return r;
}

bool debug_directory_is_of(const PeFile *file, const uint8_t guid[PDB_GUID_SIZE])
{
        DebugDirectory directory;
        const char *reason;

        return debug_directory_read(&directory, file, &reason) == 0 && directory.has_id &&
               !memcmp(directory.id.guid, guid, PDB_GUID_SIZE);
}

int debug_directory_unpack(const DebugDirectory *directory, const PeFile *file, size_t max,
                           uint8_t **ret_bytes, size_t *ret_n, const char **ret_reason)
{
        uint32_t n_packed = directory->n_embedded, n = 0;
        uint8_t *packed, *bytes = NULL;
        ByteCursor cursor;
        int r;

        if (n_packed <= EMBEDDED_HEADER) {
                *ret_reason = "it has no embedded PDB";
                return -ENOENT;
        }
        if (n_packed > max)
                return debug_refuse(ret_reason, "its embedded PDB is too long");
        packed = malloc(n_packed);
        r = packed ? pe_file_read_at(file, directory->embedded_at, packed, n_packed) : -ENOMEM;
        if (r == 0) {
                cursor = (ByteCursor){.at = packed, .n = n_packed};
                if (byte_cursor_u32(&cursor) != EMBEDDED_SIGNATURE)
                        r = -EBADMSG;
                n = byte_cursor_u32(&cursor);
                /* Checked before memory is allocated. */
                if (!n || n > max || n / INFLATE_MAX_RATIO > n_packed)
                        r = -EBADMSG;
        }
        if (r == 0) {
                bytes = malloc(n);
                r = bytes ? inflate_exactly(cursor.at, cursor.n, bytes, n) : -ENOMEM;
        }
        free(packed);
        if (r < 0) {
                free(bytes);
                *ret_reason = r == -ENOMEM    ? "no memory left"
                              : r == -EBADMSG ? EMBEDDED
                                              : "it cannot be read";
                return r;
        }
        *ret_bytes = bytes;
        *ret_n = n;
        return 0;
}
