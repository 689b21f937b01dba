/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Trace CTF: reads the traces in a directory into a sink, in this process
 *
 * With src/ctf, event by event in the order of time.
 */

#include "offline/trace-sink.h"

typedef struct TraceCtf TraceCtf;

/*
 * Opens the traces in DIRECTORY, here or below; with JIT_EVENTS also for the events about the JIT's
 * work. SINK is borrowed. NULL with ERROR set; with CTF_ERROR_UNSUPPORTED (ctf/error.h)
 * babeltrace2 may be able to read them.
 */
TraceCtf *trace_ctf_new(const char *directory, bool jit_events, TraceSink *sink, GError **error);
void trace_ctf_free(TraceCtf *ctf);

/*
 * Reads the next piece: some ms of work. False at the end: everything was read, or ERROR is set and
 * nothing can be answered.
 */
bool trace_ctf_run(TraceCtf *ctf, GError **error);

/* What was read so far. */
void trace_ctf_report(const TraceCtf *ctf, FeederReport *ret_report);
/* Bytes of the stream files: read so far, and all. */
void trace_ctf_progress(const TraceCtf *ctf, uint64_t *ret_read, uint64_t *ret_total);
