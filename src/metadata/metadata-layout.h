/* SPDX-License-Identifier: MIT */
#pragma once

/* Metadata layout: the columns of each table, and the tables of each coded index */

#include "metadata/metadata-tables.h"

#include <stdint.h>

/* The content of a column: below COLUMN_CODED, the number of a table, for an index of its rows. */
enum {
        COLUMN_CODED = 0x40, /* plus a MetadataCode */
        COLUMN_U16 = 0x80,
        COLUMN_U32,
        COLUMN_STRING,
        COLUMN_GUID,
        COLUMN_BLOB,
};

typedef struct MetadataColumns {
        uint8_t n; /* 0: no such table */
        uint8_t kinds[METADATA_MAX_COLUMNS];
} MetadataColumns;

extern const MetadataColumns metadata_columns[_METADATA_TABLE_MAX];

#define METADATA_NO_TABLE 0xff

typedef struct MetadataTags {
        uint8_t n_bits;
        uint8_t n;
        uint8_t tables[32]; /* METADATA_NO_TABLE: an unused tag */
} MetadataTags;

extern const MetadataTags metadata_tags[_METADATA_CODE_MAX];
