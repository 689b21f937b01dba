/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Metadata: which event a stream means by a metadata id
 *
 * The ids are the stream's own. The event table (event/event.h) has the fields of every event that
 * is decoded. The fields that a stream may describe are not read, but for the names of those of
 * Universal events: a version of such an event shows in these only.
 */

#include "event/event-counts.h"
#include "nettrace/framing.h"
#include "nettrace/sample.h"

/* Ids that are remembered; a stream of .NET has under a hundred. */
#define NETTRACE_MAX_METADATA 16384

typedef struct NettraceMetadata {
        uint32_t id;
        bool has_version; /* else `event` is the latest version that has a row */
        bool is_later;    /* than `event`, whose fields come first */
        NettraceSampleKind sample;
        const Event *event;     /* NULL: it has no row, or is not wanted */
        const Event *universal; /* the row, wanted or not, if it is a compact one; else NULL */
        EventCounts *counts;    /* borrowed; NULL: neither a .NET event nor a Universal one */
} NettraceMetadata;

typedef struct NettraceMetadataTable {
        GHashTable *by_id;  /* owned: id -> owned NettraceMetadata */
        GHashTable *counts; /* borrowed */
        EventUse use;
} NettraceMetadataTable;

/* COUNTS is borrowed, a table of event_counts_new(). */
void nettrace_metadata_init(NettraceMetadataTable *table, EventUse use, GHashTable *counts);
void nettrace_metadata_deinit(NettraceMetadataTable *table);
/* Forgets all ids. */
void nettrace_metadata_clear(NettraceMetadataTable *table);

/* Takes a block of kind METADATA. False: it is damaged, or there are too many ids. */
bool nettrace_metadata_take(NettraceMetadataTable *table, const NettraceBlock *block,
                            unsigned version);

/* NULL: the id was not announced. Valid until the next block of metadata. */
const NettraceMetadata *nettrace_metadata_get(const NettraceMetadataTable *table, uint32_t id);
