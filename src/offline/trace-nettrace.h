/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Trace nettrace: reads a file of nettrace into a sink
 *
 * A session of EventPipe is one stream of one trace, of the one process in it. A file of version 6
 * can have several processes: what is lost may be of any of them.
 */

#include "offline/trace-sink.h"

typedef struct TraceNettrace TraceNettrace;

/*
 * Takes over FD, a file that begins as nettrace does; PATH is for messages. With JIT_EVENTS also
 * for the events about the JIT's work. SINK is borrowed. NULL with ERROR set.
 */
TraceNettrace *trace_nettrace_new(int fd, const char *path, bool jit_events, TraceSink *sink,
                                  GError **error);
void trace_nettrace_free(TraceNettrace *trace);

/*
 * Reads the next piece: some ms of work. False at the end: everything was read, or ERROR is set and
 * nothing can be answered.
 */
bool trace_nettrace_run(TraceNettrace *trace, GError **error);

/* What was read so far. */
void trace_nettrace_report(const TraceNettrace *trace, FeederReport *ret_report);
/* Bytes of the file: read so far, and all. */
void trace_nettrace_progress(const TraceNettrace *trace, uint64_t *ret_read, uint64_t *ret_total);
