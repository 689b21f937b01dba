/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Record stream: the parts of a recording without an end, each named and written or sent
 *
 * A thread of its own names them, so that the recording goes on meanwhile.
 */

#include "cli/options.h"

typedef struct RecordStream RecordStream;

/* By --every, --push and --output of OPTIONS, which is borrowed. NULL with ERROR set. */
RecordStream *record_stream_new(const Options *options, GError **error);
/*
 * Before the first part, and after the recorder was made, which takes all signals: the socket of
 * the daemon with the names, whose directory is also for files; and the directory of chains of
 * async methods, which need not be there. Borrowed.
 */
void record_stream_begin(RecordStream *stream, const char *socket, const char *async_logs);
/* Takes the file PATH, with samples from before TIME, in ns of CLOCK_MONOTONIC. DATA is a
 * RecordStream. Does not wait. */
void record_stream_take(const char *path, uint64_t time, void *data);
/* Names what it took, and prints what became of it. False: none of it could be, which
 * is printed, or it took nothing, then with ERROR set. NULL is fine. */
bool record_stream_free(RecordStream *stream, GError **error);
