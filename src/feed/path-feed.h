/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Path feed: a trace, a .nettrace file or a snapshot, read once and sent to the daemon
 *
 * The daemon gets the same events that --trace reads. Events that the daemon has of a stream are
 * skipped, so a second run, or a run after a failure, changes nothing that is right. Memory: that
 * of the reader, and INGEST_CLIENT_MAX_IN_FLIGHT batches.
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct PathFeedResult {
        uint64_t n_records; /* events of .NET code in the trace */
        uint64_t n_known;   /* those that the daemon had before */
        uint64_t n_gaps;    /* the number of times at which the trace lacks events */
} PathFeedResult;

/*
 * SOCKET is the path of the daemon's ingest socket. JIT_EVENTS: also feed the events about the
 * JIT's work. Returns once the daemon has acknowledged everything. False with ERROR set: the daemon
 * may have a part.
 */
bool path_feed_run(const char *socket, const char *path, bool jit_events,
                   PathFeedResult *ret_result, GError **error);
