/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Event source: the interface of a kind of file or directory for the event reader
 *
 * A source fills batches one after the other, perhaps in a thread of its own; meanwhile other
 * threads call only `n_bytes` and `has_jit_events`. A new kind is a source, and a row in SOURCES of
 * event-reader.c.
 */

#include "reader/event-reader.h"

#include <sys/types.h>

/* Items of a batch: few enough that a batch stays in the processors' caches. */
#define EVENT_BATCH_ITEMS 256

typedef struct EventSourceType EventSourceType;

/* The first member of each source. */
typedef struct EventSource {
        const EventSourceType *type;
} EventSource;

struct EventSourceType {
        /* True if FD, which stays at its begin, is of this kind. MODE is that of stat(). */
        bool (*is)(int fd, mode_t mode);
        /* Takes over FD in any case; PATH is copied. NULL with ERROR set. */
        EventSource *(*open)(int fd, const char *path, EventUse use, GError **error);
        void (*close)(EventSource *source);
        /* Adds items to BATCH, which is empty, and sets its `n_read`. The error need not name the
         * path. */
        EventReadResult (*fill)(EventSource *source, EventBatch *batch, GError **error);
        uint64_t (*n_bytes)(const EventSource *source);
        bool (*has_jit_events)(const EventSource *source); /* NULL: true if USE asked for them */
        void (*report)(const EventSource *source, FeederReport *ret_report);
        GHashTable *(*counts)(const EventSource *source); /* NULL: the source does not count events
                                                           * by name */
};

extern const EventSourceType CTF_SOURCE, NETTRACE_SOURCE, SNAPSHOT_SOURCE;

/* A batch */

static inline bool event_batch_is_full(const EventBatch *batch)
{
        return batch->n_items >= EVENT_BATCH_ITEMS || batch->weight >= EVENT_BATCH_ITEMS;
}

/* Adds an item, whose union the caller sets. A batch has room for a few items more than
 * EVENT_BATCH_ITEMS, so that a source checks only once for all items of an event. */
EventItem *event_batch_add(EventBatch *batch, EventItemType type, uint32_t stream,
                           const StreamIdentity *identity);
/* Adds an item with a time. */
void event_batch_add_time(EventBatch *batch, EventItemType type, uint32_t stream,
                          const StreamIdentity *identity, uint64_t time);

/* Makes room for SIZE bytes of values. False if there is no room: the next batch has it. */
bool event_batch_reserve(EventBatch *batch, size_t size);
/* Bytes that the values of a record take. */
size_t event_batch_record_size(const Record *record);
/* Copies the record's values into reserved room of the batch. Values that are in the batch already
 * stay. */
void event_batch_keep(EventBatch *batch, Record *record);
