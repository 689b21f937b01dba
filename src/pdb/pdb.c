/* SPDX-License-Identifier: MIT */
#include "pdb/pdb.h"

#include "pdb/sha256.h"

#include <stdlib.h>

#define ID_SIZE   (PDB_GUID_SIZE + 4u)
#define SHA1_SIZE 20u

static bool pdb_refuse(const char **ret_reason, const char *reason)
{
        *ret_reason = reason;
        return false;
}

/*
 * The checksum is that of the file before its id was put into it, because the id is made from the
 * checksum.
 */
static bool has_checksum(const Pdb *pdb, const uint8_t *checksum)
{
        static const uint8_t ZEROS[ID_SIZE];
        const uint8_t *id = pdb->metadata.pdb.at;
        uint8_t digest[SHA256_SIZE];
        Sha256 hash;

        sha256_init(&hash);
        sha256_add(&hash, pdb->bytes, (size_t)(id - pdb->bytes));
        sha256_add(&hash, ZEROS, ID_SIZE);
        sha256_add(&hash, id + ID_SIZE, pdb->n - (size_t)(id - pdb->bytes) - ID_SIZE);
        sha256_finish(&hash, digest);
        return memcmp(digest, checksum, SHA256_SIZE) == 0;
}

static void pdb_keep(uint8_t **at, const uint8_t **span, size_t n)
{
        if (n)
                memcpy(*at, *span, n);
        *span = *at;
        *at += n;
}

/*
 * Keeps the needed tables and blobs, and drops the rest (names of locals, scopes ...). Without
 * memory for a copy, everything stays.
 */
static void pdb_compact(Pdb *pdb)
{
        static const MetadataTable TABLES[] = {METADATA_DOCUMENT, METADATA_METHOD_DEBUG_INFORMATION,
                                               METADATA_STATE_MACHINE_METHOD};
        Metadata metadata = {.blobs = pdb->metadata.blobs};
        size_t n = metadata.blobs.n, i;
        uint8_t *bytes, *at;

        for (i = 0; i < sizeof(TABLES) / sizeof(*TABLES); i++) {
                const MetadataRows *rows = &pdb->metadata.tables[TABLES[i]];

                metadata.tables[TABLES[i]] = *rows;
                n += (size_t)rows->n * rows->size;
        }
        bytes = at = malloc(n ? n : 1);
        if (!bytes)
                return;
        pdb_keep(&at, &metadata.blobs.at, metadata.blobs.n);
        for (i = 0; i < sizeof(TABLES) / sizeof(*TABLES); i++) {
                MetadataRows *rows = &metadata.tables[TABLES[i]];

                pdb_keep(&at, &rows->at, (size_t)rows->n * rows->size);
        }
        free(pdb->bytes);
        pdb->bytes = bytes;
        pdb->n = n;
        pdb->metadata = metadata;
}

static bool pdb_take(Pdb *pdb, const PdbCheck *check, const char **ret_reason)
{
        static const uint8_t WINDOWS[] = "Microsoft C/C++ MSF ";
        const MetadataSpan *stream = &pdb->metadata.pdb;
        ByteCursor cursor;

        if (pdb->n >= sizeof(WINDOWS) && !memcmp(pdb->bytes, WINDOWS, sizeof(WINDOWS) - 1))
                return pdb_refuse(ret_reason, "it is a PDB of Windows, not a portable one");
        if (!metadata_read(&pdb->metadata, pdb->bytes, pdb->n, ret_reason))
                return false;
        if (stream->n < ID_SIZE)
                return pdb_refuse(ret_reason, "it is not a portable PDB");
        cursor = (ByteCursor){.at = stream->at + PDB_GUID_SIZE, .n = 4};
        memcpy(pdb->id.guid, stream->at, PDB_GUID_SIZE);
        pdb->id.stamp = byte_cursor_u32(&cursor);
        if (check && pdb_id_equals(&check->id, &pdb->id) && !has_checksum(pdb, check->checksum))
                return pdb_refuse(ret_reason, "its checksum is not the assembly's");
        pdb_compact(pdb);
        return true;
}

bool pdb_read(Pdb *ret, uint8_t *bytes, size_t n, const PdbCheck *check, const char **ret_reason)
{
        Pdb pdb = {.bytes = bytes, .n = n};

        if (!pdb_take(&pdb, check, ret_reason)) {
                free(pdb.bytes);
                return false;
        }
        *ret = pdb;
        return true;
}

void pdb_deinit(Pdb *pdb)
{
        free(pdb->bytes);
        *pdb = (Pdb){0};
}

/* Appends N bytes at *N_DONE, if they fit. */
static bool path_append(char *buffer, size_t n_buffer, size_t *n_done, const uint8_t *bytes,
                        size_t n)
{
        if (n >= n_buffer - *n_done || memchr(bytes, 0, n))
                return false;
        memcpy(buffer + *n_done, bytes, n);
        *n_done += n;
        return true;
}

/* The blob of a path is a separator, or 0, and the blobs of the parts. */
bool pdb_document_path(const Pdb *pdb, uint32_t document, char *buffer, size_t n)
{
        const Metadata *metadata = &pdb->metadata;
        MetadataSpan name, part;
        ByteCursor cursor;
        uint32_t index;
        uint8_t separator;
        size_t n_done = 0;
        bool is_first = true;

        if (!n || !metadata_cell(metadata, METADATA_DOCUMENT, document, DOCUMENT_NAME, &index) ||
            !metadata_blob(metadata, index, &name))
                return false;
        cursor = (ByteCursor){.at = name.at, .n = name.n};
        separator = byte_cursor_u8(&cursor);
        while (cursor.n) {
                index = byte_cursor_unsigned(&cursor);
                part = (MetadataSpan){0};
                if (cursor.has_failed || (index && !metadata_blob(metadata, index, &part)))
                        return false;
                if (!is_first && separator && !path_append(buffer, n, &n_done, &separator, 1))
                        return false;
                if (part.n && !path_append(buffer, n, &n_done, part.at, part.n))
                        return false;
                is_first = false;
        }
        buffer[n_done] = '\0';
        return !cursor.has_failed && n_done;
}

bool pdb_document_checksum(const Pdb *pdb, uint32_t document, MetadataSpan *ret)
{
        uint32_t index;

        return metadata_cell(&pdb->metadata, METADATA_DOCUMENT, document, DOCUMENT_HASH, &index) &&
               index && metadata_blob(&pdb->metadata, index, ret) &&
               (ret->n == SHA1_SIZE || ret->n == SHA256_SIZE);
}

uint32_t pdb_kickoff_method(const Pdb *pdb, uint32_t method)
{
        const Metadata *metadata = &pdb->metadata;
        uint32_t low = 1, high = metadata_n_rows(metadata, METADATA_STATE_MACHINE_METHOD), cell;

        /* The table must be sorted by MoveNext; in an unsorted one, nothing is found. */
        while (low <= high) {
                uint32_t middle = low + (high - low) / 2;

                if (!metadata_cell(metadata, METADATA_STATE_MACHINE_METHOD, middle,
                                   STATE_MACHINE_MOVE_NEXT, &cell))
                        return 0;
                if (cell == method)
                        return metadata_cell(metadata, METADATA_STATE_MACHINE_METHOD, middle,
                                             STATE_MACHINE_KICKOFF, &cell)
                                       ? cell
                                       : 0;
                if (cell < method)
                        low = middle + 1;
                else
                        high = middle - 1;
        }
        return 0;
}
