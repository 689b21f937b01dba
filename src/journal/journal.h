/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Journal: what feeders sent, in files, so that a daemon that is killed knows it again
 *
 * Batches are written before they have any effect and before they are acknowledged; the next daemon
 * replays them. Files are not synchronized to the disk: a journal outlives the process, not the
 * machine's boot. Now and then a child process writes a checkpoint of the tracker, which replaces
 * everything before: so the journal's size is bounded by that of what is known.
 *
 * If the journal cannot be written, the daemon goes on. That is logged once, and the journal begins
 * again with a checkpoint as soon as one can be written.
 */

#include "query/query.h"
#include "wire/ingest-connection.h"

typedef struct Journal Journal;
typedef struct JournalConnection JournalConnection;

/* How much of the journal is read. Called before and about once a second during a replay; not at
 * all if there is no journal yet. */
typedef struct JournalProgress {
        void (*replayed)(void *data, uint64_t n_read, uint64_t n_bytes);
        void *data;
} JournalProgress;

/*
 * Locks directory PATH, and replays what is there into TRACKER, which is new and borrowed. From
 * then on the tracker asks HOST (copied) through the journal. STATS (borrowed) is kept up to date.
 * NULL with ERROR set if the directory cannot be used at all; damaged files are no such error.
 */
Journal *journal_new(const char *path, Tracker *tracker, const TrackerHost *host, QueryStats *stats,
                     const JournalProgress *progress, GError **error);
/* To be freed before the tracker. */
void journal_free(Journal *journal);

/* From now on what INGEST, which is new and borrowed, accepts is written. */
JournalConnection *journal_connect(Journal *journal, IngestConnection *ingest);
/* Its feeder is gone. To be called before the IngestConnection is freed. */
void journal_disconnect(JournalConnection *connection);

/* tracker_end_process() and tracker_set_command(), and what changes is written. */
void journal_end_process(Journal *journal, uint64_t serial, uint64_t time);
void journal_set_command(Journal *journal, uint64_t serial, const char *command);

/* tracker_age(), and what it forgets is written. */
void journal_age(Journal *journal, unsigned max_age);

/* Bytes above which a checkpoint is written, if they are also more than twice the last checkpoint.
 * Default 64 MiB. */
void journal_set_limit(Journal *journal, uint64_t n_bytes);
/* ms without progress after which the child is killed, and another one is tried. Default 60000. */
void journal_set_patience(Journal *journal, unsigned ms);
/* True while a child writes one. The main context notices when it is done. */
bool journal_is_compacting(const Journal *journal);
