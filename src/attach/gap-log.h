/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Gap log: reports process gaps to the daemon, in which the holder had no session of a target
 *
 * A gap has a file in the holder's directory while it is open, and until the daemon has it, so that
 * a later holder continues with it:
 *
 *   gap-PID-START-BEGIN    "VPID PID_NS END REPORTED INGEST\n"
 *
 * START is in clock ticks since boot, BEGIN and END are in ns of CLOCK_MONOTONIC (END is 2^64 - 1
 * while the gap is open), REPORTED is 1 if the daemon has the current values, and INGEST is the
 * path of its ingest socket. Earlier holders wrote "silent-" instead of "gap-", and no path; such
 * files are read, too. Without a daemon, reports are retried.
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct GapLog GapLog;

typedef struct GapTarget {
        pid_t pid; /* in our own pid namespace */
        uint64_t start_ticks;
        int32_t vpid;    /* in its own pid namespace */
        uint64_t pid_ns; /* inode of that namespace */
} GapTarget;

/* The path of the ingest socket in TEXT, of the file NAME; the caller frees it. NULL: not a gap's
 * file, or without a path. */
char *gap_log_file_ingest(const char *name, const char *text);

/*
 * Loads the gaps of an earlier holder of DIRECTORY. INGEST: path of the daemon's ingest socket.
 * Both are copied. CHANGED is called when gap_log_is_pending() may have changed, never from within
 * a call.
 */
GapLog *gap_log_new(const char *directory, const char *ingest, void (*changed)(void *data),
                    void *data);
/* Waits up to half a second for pending reports. Returns true if LOG is empty then. */
bool gap_log_free(GapLog *log);
/* The path of the daemon's ingest socket; owned by LOG. */
const char *gap_log_ingest(const GapLog *log);

/* Begins a gap at BEGIN (ns of CLOCK_MONOTONIC): from then on possibly no session of TARGET is
 * held. */
void gap_log_begin(GapLog *log, const GapTarget *target, uint64_t begin);
/* Ends the gap at END: a session of TARGET is held from then on. */
void gap_log_end(GapLog *log, const GapTarget *target, uint64_t end);

/* True if the log has neither a pending nor an open gap. */
bool gap_log_is_empty(const GapLog *log);
/* True while a report is pending for a daemon that answered before, and the directory exists. */
bool gap_log_is_pending(const GapLog *log);
