/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Replay marker: the progress of a replay, in a file of the state directory
 *
 * If the daemon crashes on a batch, the batch is in the journal, and each restart would crash on it
 * again. The file exists while a replay runs, and has the position of the entry being applied. The
 * next replay reads from it where the previous replay ended, and whether it crashed there: signal
 * handlers note a crash; SIGKILL leaves no note. An entry is poison if two replays in a row crashed
 * at it, or if four in a row ended at it for any reason.
 */

#include "journal/journal-directory.h"

typedef struct ReplayMarker ReplayMarker;

/*
 * Takes the file that an earlier replay left in DIRECTORY, and handles the signals of a crash until
 * replay_marker_free(). Only one marker may exist at a time. Without room for the file, nothing is
 * marked. Never NULL.
 */
ReplayMarker *replay_marker_new(const JournalDirectory *directory);
/* The replay is over: removes the file, and restores the handlers. */
void replay_marker_free(ReplayMarker *marker);

/* True if the entry at OFFSET of part NUMBER is poison, see above. */
bool replay_marker_is_poison(const ReplayMarker *marker, uint64_t number, uint64_t offset);
/* That entry is applied next. */
void replay_marker_set(ReplayMarker *marker, uint64_t number, uint64_t offset);
