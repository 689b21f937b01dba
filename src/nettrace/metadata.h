/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Metadata: the event behind each metadata id of a stream
 *
 * Each stream has ids of its own. The event table (event/event.h) has the fields of every decoded
 * event. Descriptions of fields in the stream are ignored. The exception are the names of Universal
 * events' fields, because these alone show the version.
 */

#include "event/event-counts.h"
#include "nettrace/framing.h"
#include "nettrace/sample.h"

/* Most ids kept; a stream of .NET has under a hundred. */
#define NETTRACE_MAX_METADATA 16384

typedef struct NettraceMetadata {
        uint32_t id;
        bool has_version; /* else `event` is the latest version with a row */
        bool is_later;    /* than `event`, whose fields are its first ones */
        NettraceSampleKind sample;
        const Event *event;     /* NULL: the event has no row, or is not wanted */
        const Event *universal; /* the row of a compact event, wanted or not; else NULL */
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
