/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Replay marker: how far a replay is, in a file of the state directory
 *
 * A batch on which the daemon crashes is in the journal, so each restart would crash on it again.
 * The file exists while a replay runs, and has the position of the entry that is being applied. A
 * replay that finds it knows where the one before ended, and whether it crashed there: handlers of
 * the signals of a crash note that, and SIGKILL leaves no note. Where two in a row crashed is
 * poison, and where four in a row ended in any way.
 */

#include "journal/journal-directory.h"

typedef struct ReplayMarker ReplayMarker;

/* Takes the file that an earlier replay left in DIRECTORY, and handles the signals of a crash until
 * replay_marker_free(); one marker at a time. Without room for the file, nothing is marked. Never
 * NULL. */
ReplayMarker *replay_marker_new(const JournalDirectory *directory);
/* The replay is over: removes the file, and restores the handlers. */
void replay_marker_free(ReplayMarker *marker);

/* True if replays in a row crashed or ended with the entry at OFFSET of part NUMBER, as above. */
bool replay_marker_is_poison(const ReplayMarker *marker, uint64_t number, uint64_t offset);
/* That entry is applied next. */
void replay_marker_set(ReplayMarker *marker, uint64_t number, uint64_t offset);
