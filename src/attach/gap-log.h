/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Gap log: the process gaps that the holder reports to the daemon, in which it held no session of a
 * target
 *
 * A gap has a file in the holder's directory until the daemon has it, and while it is open, so that
 * a later holder continues with it:
 *
 *   gap-PID-START-BEGIN    "VPID PID_NS END REPORTED INGEST\n"
 *
 * START is in clock ticks since boot, BEGIN and END are in ns of CLOCK_MONOTONIC (END is 2^64 - 1
 * while the gap is open), REPORTED is 1 if the daemon has the gap as it is, and INGEST is the path
 * of its ingest socket. Earlier holders wrote "silent-" instead of "gap-", and no path; that is
 * read, too. While there is no daemon, reporting is tried again.
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

/* The path in TEXT, of the file NAME; the caller frees it. NULL: it is not such a file, or has
 * none.
 */
char *gap_log_file_ingest(const char *name, const char *text);

/*
 * Reads what an earlier holder of DIRECTORY left. INGEST is the path of the daemon's ingest socket;
 * both are copied. CHANGED is called when gap_log_is_pending() may have changed, never from within
 * a call.
 */
GapLog *gap_log_new(const char *directory, const char *ingest, void (*changed)(void *data),
                    void *data);
/*
 * Waits up to half a second for gaps that can still be reported. Returns true if LOG is empty then.
 */
bool gap_log_free(GapLog *log);
/* The path of the daemon's ingest socket; owned by LOG. */
const char *gap_log_ingest(const GapLog *log);

/* From BEGIN on (ns of CLOCK_MONOTONIC), no session of TARGET is held, or possibly none. */
void gap_log_begin(GapLog *log, const GapTarget *target, uint64_t begin);
/* A session of TARGET is held from END on. */
void gap_log_end(GapLog *log, const GapTarget *target, uint64_t end);

/* True if it has no gap, neither one to report nor an open one. */
bool gap_log_is_empty(const GapLog *log);
/* True while a gap is to be reported to a daemon that answered before. */
bool gap_log_is_pending(const GapLog *log);
