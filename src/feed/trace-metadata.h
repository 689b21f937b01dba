/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Trace metadata: a trace's declarations, parsed and compiled, as of one moment
 *
 * Metadata grows while a session runs. Each state is an object of its own, with references: a
 * packet is read to its end with the state at its beginning.
 */

#include "ctf/layout.h"
#include "feed/stream-table.h"

typedef struct TraceMetadata TraceMetadata;

/* How many of N bytes are whole declarations; the last declaration can be incomplete while metadata
 * grows. 0: none is. BYTES are packets or text of CTF 1.8, or CTF 2. */
size_t trace_metadata_whole(const uint8_t *bytes, size_t n);

/* COUNTS is of event_counts_new() and lives longer. NULL with ERROR set. */
TraceMetadata *trace_metadata_new(const uint8_t *bytes, size_t n, EventUse use, GHashTable *counts,
                                  GError **error);
TraceMetadata *trace_metadata_ref(TraceMetadata *metadata);
/* NULL is fine. */
void trace_metadata_unref(TraceMetadata *metadata);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TraceMetadata, trace_metadata_unref)

/* The trace's identity (ctf_trace_class_identity()); borrowed, 16 bytes. NULL: none yet. */
const uint8_t *trace_metadata_uuid(const TraceMetadata *metadata);
/* The layout of any of its stream classes; borrowed. NULL: it declares none. */
CtfLayout *trace_metadata_layout(const TraceMetadata *metadata);
/* Converts a value of its clock, in cycles, to ns since 1970. False: it has no clock (yet). */
bool trace_metadata_order(const TraceMetadata *metadata, uint64_t cycles, int64_t *ret_order);

/*
 * Gives a stream of the trace its identity and its reader, if it has none. False: its class is not
 * declared, or has no clock.
 */
bool trace_metadata_identify(const TraceMetadata *metadata, FeedStream *stream);
