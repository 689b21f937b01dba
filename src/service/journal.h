/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Journal: what feeders said, on disk, so that a daemon that is killed is the same again
 *
 * What comes is written down before it has any effect and is acknowledged; a new daemon reads it
 * all back. It is not brought to the disk itself: a journal outlives the process, not the machine's
 * boot. Now and then a child process writes an image of the tracker, in place of all that came
 * before: that bounds the journal's size by that of what is known.
 *
 * A journal that cannot be written is no reason to stop: it is told once, and begun anew with an
 * image as soon as that can be.
 */

#include "query/query.h"
#include "service/ingest-session.h"

typedef struct Journal Journal;
typedef struct JournalConnection JournalConnection;

/*
 * Locks directory PATH, reads what is there into TRACKER, which is as new and borrowed, and goes on
 * from there. HOST (copied) is asked through the journal from then on: it becomes the tracker's.
 * STATS (borrowed) is kept up to date. NULL with ERROR set if the directory cannot be used at all;
 * with damaged files it is.
 */
Journal *journal_new(const char *path, Tracker *tracker, const TrackerHost *host, QueryStats *stats,
                     GError **error);
/* Before the tracker. */
void journal_free(Journal *journal);

/* From now on SESSION, which is new and borrowed, is written down. */
JournalConnection *journal_connect(Journal *journal, IngestSession *session);
/* Its feeder is gone: before the session is freed. */
void journal_disconnect(JournalConnection *connection);

/* tracker_age(), written down. */
void journal_age(Journal *journal, unsigned max_age);

/* Bytes above which an image is made, if that is more than twice the last image. Default 64 MiB. */
void journal_set_limit(Journal *journal, uint64_t n_bytes);
/* True while a child makes one. The main context tells when it has. */
bool journal_is_compacting(const Journal *journal);
