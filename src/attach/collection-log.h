/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Collection log: the garbage collections of a target, and the times for which they stopped it
 *
 * A worker writes it if the directory of its attachment's file has a directory `collections`, to a
 * file of the same name in there: CollectionLogEntries, in the machine's byte order, in the order
 * of their ends. It is for a program that samples threads and runs on the same machine
 * (src/record). The events come in a session of their own: a provider has one level in a session,
 * and at the level of jitted code the runtime would report each 100 KB that are allocated.
 */

#include "attach/eventpipe-session.h"
#include "attach/target-threads.h"
#include "event/record.h"

#include <stdbool.h>
#include <stdint.h>

#define COLLECTION_LOG_DIRECTORY "collections"
/* Bytes of one log, 400,000 collections; later ones are left out. */
#define COLLECTION_LOG_MAX_BYTES (UINT64_C(32) << 20)

typedef enum CollectionLogKind {
        COLLECTION_LOG_COLLECTION, /* from GCStart to GCEnd */
        COLLECTION_LOG_PAUSE,      /* the program was stopped for one, by the thread TID */
} CollectionLogKind;

/* Types of collections, as in GCStart. */
enum { COLLECTION_BACKGROUND = 1 };

typedef struct CollectionLogEntry {
        uint64_t begin, end; /* ns of CLOCK_MONOTONIC */
        int32_t tid;   /* of the event at the begin, as perf has it: in our own pid namespace; 0:
                          not known */
        int32_t pid;   /* the same */
        uint32_t kind; /* CollectionLogKind */
        /* As in GCStart; a pause has 0. */
        uint32_t generation, reason, type;
} CollectionLogEntry;

typedef struct CollectionLog CollectionLog;

/* PATH: of the attachment's file. THREADS: borrowed. CLOCK_AHEAD: ns by which the target's clock is
 * ahead of ours. NULL: nobody wants a log, neither of collections nor of async events. */
CollectionLog *collection_log_open(const char *path, TargetThreads *threads, int64_t clock_ahead);
/* False: the log is for async events only. */
bool collection_log_wants_collections(const CollectionLog *log);
/* Is there an async log beside it, which gets what the stream has of async events? */
bool collection_log_wants_async(const CollectionLog *log);
/* Has it got any? */
bool collection_log_has_async(const CollectionLog *log);
/* The target has written all async events before TIME, and did so before NOW, in ns of
 * CLOCK_MONOTONIC. */
void collection_log_add_flushed(CollectionLog *log, uint64_t time, uint64_t now);
/* Writes the rest. IS_COMPLETE: the session was stopped, and its stream read to the end. NULL is
 * fine. */
void collection_log_close(CollectionLog *log, bool is_complete);
/* Takes the stream of the session; borrowed from LOG. */
const EventPipeSink *collection_log_sink(const CollectionLog *log);
/* Takes the next record of the target; the sink does that with each one of the stream. */
void collection_log_take(CollectionLog *log, const Record *record);
