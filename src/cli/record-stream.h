/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Record stream: the parts of an endless recording, each named and written or sent
 *
 * A thread of its own names the parts, so that the recording continues meanwhile.
 */

#include "cli/options.h"
#include "record/recorder.h"

typedef struct RecordStream RecordStream;

/* Uses --every, --push and --output of OPTIONS, which is borrowed. NULL with ERROR set. */
RecordStream *record_stream_new(const Options *options, GError **error);
/*
 * Before the first part, and after RECORDER was made, which takes all signals. Borrowed: its daemon
 * has the names, its holder the logs of what runtimes do, and the directory of the daemon's socket
 * is also for files.
 */
void record_stream_begin(RecordStream *stream, const Recorder *recorder);
/* Takes the file PATH, with samples from before TIME, in ns of CLOCK_MONOTONIC, and MEMORY. DATA is
 * a RecordStream. Does not wait. */
void record_stream_take(const char *path, JitMemory *memory, uint64_t time, void *data);
/* Names the remaining parts, and prints a summary. False if all parts failed, which is printed, or
 * if there were none, then with ERROR set. NULL is fine. */
bool record_stream_free(RecordStream *stream, GError **error);
