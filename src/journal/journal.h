/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Journal: the feeders' data in files, so that it survives a killed daemon
 *
 * A batch is stored before it has any effect and before it is acknowledged; the next daemon replays
 * all batches. Files are not synchronized to the disk: a journal survives the process, not the
 * machine's boot. At times a child process writes a checkpoint of the tracker, which replaces all
 * earlier files. The size of the journal is therefore bounded by the size of the tracker's data.
 *
 * If the journal cannot be written, the daemon continues without it. The daemon logs that once; a
 * retry begins a new journal with a checkpoint.
 */

#include "query/query.h"
#include "wire/ingest-connection.h"

typedef struct Journal Journal;
typedef struct JournalConnection JournalConnection;

/*
 * The bytes of the journal read so far. Called before a replay, and about once a second during it;
 * never if there is no journal yet.
 */
typedef struct JournalProgress {
        void (*replayed)(void *data, uint64_t n_read, uint64_t n_bytes);
        void *data;
} JournalProgress;

/*
 * Locks directory PATH, and replays its files into TRACKER, which is new and borrowed. From then on
 * the tracker asks HOST (copied) through the journal. STATS (borrowed) is kept up to date. NULL
 * with ERROR set if the directory cannot be used at all; damaged files are no such error.
 */
Journal *journal_new(const char *path, Tracker *tracker, const TrackerHost *host, QueryStats *stats,
                     const JournalProgress *progress, GError **error);
/* Free the journal before the tracker. */
void journal_free(Journal *journal);

/* From now on the journal stores the bytes that INGEST, new and borrowed, accepts. */
JournalConnection *journal_connect(Journal *journal, IngestConnection *ingest);
/* The feeder has disconnected. Call it before the IngestConnection is freed. */
void journal_disconnect(JournalConnection *connection);

/* tracker_end_process() and tracker_set_command(), with their changes stored. */
void journal_end_process(Journal *journal, uint64_t serial, uint64_t time);
void journal_set_command(Journal *journal, uint64_t serial, const char *command);

/* tracker_age(), with the dropped processes stored. */
void journal_age(Journal *journal, unsigned max_age);

/*
 * Limit in bytes: above it a checkpoint is written, if the journal is also larger than twice the
 * last checkpoint. Default 64 MiB.
 */
void journal_set_limit(Journal *journal, uint64_t n_bytes);
/* ms without progress after which the child is killed; a retry follows. Default 60000. */
void journal_set_patience(Journal *journal, unsigned ms);
/* True while a child writes a checkpoint. The main context notices its end. */
bool journal_is_compacting(const Journal *journal);
