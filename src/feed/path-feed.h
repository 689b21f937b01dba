/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Path feed: a trace, a .nettrace file or a snapshot, read once and sent to the daemon
 *
 * The daemon gets what --trace reads. What the daemon has of a stream is taken for known, so that a
 * second run, or a run after a failure, changes nothing that is right. Memory: that of the reader,
 * and INGEST_CLIENT_MAX_IN_FLIGHT batches.
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct PathFeedResult {
        uint64_t n_records; /* events of .NET code in the trace */
        uint64_t n_known;   /* those of them that the daemon had */
        uint64_t n_gaps;    /* times in which the trace lacks events */
} PathFeedResult;

/*
 * SOCKET is the path of the daemon's ingest socket. With JIT_EVENTS also for the events about the
 * JIT's work. Returns once the daemon has acknowledged everything. False with ERROR set: then it
 * may have a part.
 */
bool path_feed_run(const char *socket, const char *path, bool jit_events,
                   PathFeedResult *ret_result, GError **error);
