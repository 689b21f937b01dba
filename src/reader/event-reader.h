/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Event reader: the events of a path, whatever its kind
 *
 * The kinds are rows of a table (event-source.h): directories with traces of CTF, files of
 * nettrace, snapshots. A thread reads and decodes the events; the caller gets them in batches, in
 * the order of their times.
 */

#include "event/event-counts.h"
#include "event/stream.h"

/* The message if no event of a trace can be used; follows the trace's path. */
#define EVENT_READER_NOTHING                                                                       \
        "not one event of the .NET runtime in this trace: record it with clrsym session start, "   \
        "or a .nettrace file with the provider Microsoft-Windows-DotNETRuntime"

typedef struct EventReader EventReader;

typedef enum EventItemType {
        EVENT_ITEM_OPEN,        /* a stream with a clock begins. Items of streams that were not
                                   opened have no time that can be compared */
        EVENT_ITEM_RECORD,      /* `record` is set */
        EVENT_ITEM_PROGRAM,     /* `record` has the program of a process, and no event */
        EVENT_ITEM_GAP,         /* `gap` is set: the stream lost events */
        EVENT_ITEM_PROGRESS,    /* everything of the stream up to `time` has come */
        EVENT_ITEM_CLOSE,       /* the stream has ended */
        EVENT_ITEM_PROCESS_GAP, /* `process_gap` is set; of no stream */
} EventItemType;

typedef struct EventItem {
        EventItemType type;
        uint32_t stream;                /* its number, from 0; reused after EVENT_ITEM_CLOSE */
        const StreamIdentity *identity; /* borrowed from the reader; NULL: no stream */
        int64_t order; /* of a record: never falls. Two records with one time in one stream have the
                          same order */
        union {
                Record record;
                StreamGap gap;
                ProcessGap process_gap;
                uint64_t time; /* ns of the stream's clock */
        };
} EventItem;

typedef enum EventReadResult {
        EVENT_READ_MORE,
        EVENT_READ_END,
        EVENT_READ_ERROR,
} EventReadResult;

typedef struct EventBatch {
        EventItem *items; /* owned by the reader, as all texts in them */
        size_t n_items;
        size_t weight;          /* the cost of reading it, in items */
        uint64_t n_read;        /* bytes of the path's files up to here */
        EventReadResult result; /* the next result: EVENT_READ_MORE is another batch */
        GError *error;          /* owned by the reader: with EVENT_READ_ERROR. It names the path */
        uint8_t *bytes;         /* owned by the reader: the records' values */
        size_t n_bytes, n_allocated;
} EventBatch;

/*
 * Opens PATH, which is copied. USE: the wanted events; a snapshot has the events that it was saved
 * with. NULL with ERROR set, which names PATH: it is of no known kind, is damaged, or lacks the
 * events of EVENT_USE_JIT.
 */
EventReader *event_reader_new(const char *path, EventUse use, GError **error);
void event_reader_free(EventReader *reader);

/* The next batch, borrowed until the next call. NULL after the last batch. */
EventBatch *event_reader_next(EventReader *reader);

/* True if the reader reads the events about the JIT's work. */
bool event_reader_has_jit_events(const EventReader *reader);
/* Bytes of the path's files. */
uint64_t event_reader_n_bytes(const EventReader *reader);
/* The counters. After the last batch. */
void event_reader_report(const EventReader *reader, FeederReport *ret_report);
/* A table of event_counts_new(), of all .NET events; borrowed. After the last batch. NULL: this
 * kind of file does not count them. */
GHashTable *event_reader_counts(const EventReader *reader);
