/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Collection log: the garbage collections of a target, and its pauses for them
 *
 * A worker writes it if the directory of its attachment's file has a directory `collections`, to a
 * file of the same name in there: CollectionLogEntries, in the machine's byte order, in the order
 * of their ends. An entry of which a reader must know before its end is there twice: first with the
 * end COLLECTION_LOG_OPEN, then with its end; or with its begin as its end, if the end did not
 * come. It is for a program that samples threads and runs on the same machine (src/record). The
 * events come in a session of their own: a provider has one level in a session, and at the level of
 * jitted code the runtime would report each 100 KB that are allocated.
 */

#include "attach/eventpipe-session.h"
#include "attach/target-threads.h"
#include "event/record.h"

#include <stdbool.h>
#include <stdint.h>

#define COLLECTION_LOG_DIRECTORY "collections"
/* Maximum size of a log in bytes; later entries are dropped. */
#define COLLECTION_LOG_MAX_BYTES (UINT64_C(32) << 20)

/* The end of an entry that goes on. */
#define COLLECTION_LOG_OPEN UINT64_MAX

typedef enum CollectionLogKind {
        COLLECTION_LOG_COLLECTION, /* from GCStart to GCEnd */
        COLLECTION_LOG_PAUSE,      /* thread TID had stopped the program for a collection */
} CollectionLogKind;

/* Types of collections, as in GCStart. */
enum { COLLECTION_BACKGROUND = 1 };

typedef struct CollectionLogEntry {
        uint64_t begin, end; /* ns of CLOCK_MONOTONIC; END: see above */
        int32_t tid;   /* of the event at the begin, as perf has it: in our own pid namespace; 0:
                          not known */
        int32_t pid;   /* the same */
        uint32_t kind; /* CollectionLogKind */
        /* As in GCStart; a pause has 0. */
        uint32_t generation, reason, type;
} CollectionLogEntry;

/* True if OLDER, of the same kind, is over when ENTRY begins: two collections of a type do not
 * overlap, nor do two pauses by one thread. */
static inline bool collection_log_excludes(const CollectionLogEntry *entry,
                                           const CollectionLogEntry *older)
{
        if (entry->kind == COLLECTION_LOG_PAUSE)
                return entry->tid == older->tid;
        return (entry->type == COLLECTION_BACKGROUND) == (older->type == COLLECTION_BACKGROUND);
}

typedef struct CollectionLog CollectionLog;

/* PATH: the attachment's file. THREADS: borrowed. CLOCK_AHEAD: ns by which the target's clock is
 * ahead of ours. NULL: neither collections nor async events are wanted. */
CollectionLog *collection_log_open(const char *path, TargetThreads *threads, int64_t clock_ahead);
/* False: the log is for async events only. */
bool collection_log_wants_collections(const CollectionLog *log);
/* True if an async log exists, which gets the stream's async events. */
bool collection_log_wants_async(const CollectionLog *log);
/* True if async events have come. */
bool collection_log_has_async(const CollectionLog *log);
/* The target has written all async events before TIME, and did so before NOW; both in ns of
 * CLOCK_MONOTONIC. */
void collection_log_add_flushed(CollectionLog *log, uint64_t time, uint64_t now);
/* Writes the rest. IS_COMPLETE: the session was stopped, and its stream read to the end. NULL is
 * fine. */
void collection_log_close(CollectionLog *log, bool is_complete);
/* Hands all entries to the reader, also those that go on; the sink does that, too. */
void collection_log_flush(CollectionLog *log);
/* Takes the stream of the session; borrowed from LOG. */
const EventPipeSink *collection_log_sink(const CollectionLog *log);
/* Takes the next record of the target; the sink calls this for each record of the stream. */
void collection_log_take(CollectionLog *log, const Record *record);
