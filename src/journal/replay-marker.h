/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Replay marker: how far a replay is, in a file of the state directory
 *
 * A batch on which the daemon crashes is in the journal, so each restart would crash on it again.
 * The file exists while a replay runs, and has the position of the entry that is being applied. A
 * replay that finds it knows where the one before ended; where two in a row ended is poison.
 */

#include "journal/journal-directory.h"

typedef struct ReplayMarker ReplayMarker;

/* Takes the file that an earlier replay left in DIRECTORY. Without room for the file, nothing is
 * marked. Never NULL. */
ReplayMarker *replay_marker_new(const JournalDirectory *directory);
/* The replay is over: removes the file. */
void replay_marker_free(ReplayMarker *marker);

/* True if two replays in a row ended with the entry at OFFSET of part NUMBER. */
bool replay_marker_is_poison(const ReplayMarker *marker, uint64_t number, uint64_t offset);
/* That entry is applied next. */
void replay_marker_set(ReplayMarker *marker, uint64_t number, uint64_t offset);
