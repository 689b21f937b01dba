/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Nettrace feed: a file of nettrace, read once and sent to the daemon
 *
 * The daemon gets what --trace reads: one stream, of the session in the file. What it has of that
 * stream it takes for known, so that a second run, or one after a failure, changes nothing that is
 * right. Memory: that of the reader, and INGEST_CLIENT_MAX_IN_FLIGHT batches.
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct NettraceFeedResult {
        uint64_t n_records; /* events of .NET code in the file */
        uint64_t n_known;   /* those of them that the daemon had */
        uint64_t n_gaps;    /* times in which the file lacks events */
} NettraceFeedResult;

/*
 * Takes over FD, a file that begins as nettrace does; PATH is for messages. SOCKET is the path of
 * the daemon's ingest socket. With JIT_EVENTS also for the events about the JIT's work. Returns
 * once the daemon has acknowledged all of it. False with ERROR set: then it may have a part.
 */
bool nettrace_feed_run(const char *socket, int fd, const char *path, bool jit_events,
                       NettraceFeedResult *ret_result, GError **error);
