/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Trace reader: reads a trace or a snapshot of one into a tracker
 *
 * Runs on the default main context, and never blocks for longer than reading a piece of a file
 * takes. Can save a snapshot while it reads.
 */

#include "tracker/tracker.h"

typedef struct TraceReader TraceReader;

typedef struct TraceReaderOptions {
        const char *path; /* directory with CTF traces, here or below; or snapshot; or nettrace */
        const char *save; /* the path for a snapshot; NULL: none */
        bool jit_events;  /* also reads the events about the JIT's work */
} TraceReaderOptions;

/* The reading has ended. ERROR, which the callee owns, is the reason of a failure; NULL: everything
 * was read. */
typedef void (*TraceReaderDone)(void *data, GError *error);

/*
 * Begins to read. TRACKER and what OPTIONS points to are borrowed. DONE is called once, from the
 * main context (it may free the reader). NULL with ERROR set if it cannot even begin: then DONE is
 * not called.
 */
TraceReader *trace_reader_new(const TraceReaderOptions *options, Tracker *tracker,
                              TraceReaderDone done, void *data, GError **error);
/* Stops the reading, and removes an unfinished snapshot. */
void trace_reader_free(TraceReader *reader);

/* Bytes of the trace's stream files, or of the snapshot; never less than before. */
void trace_reader_progress(TraceReader *reader, uint64_t *ret_read, uint64_t *ret_total);

/* A note for people about the trace, one line, borrowed; NULL: none. */
const char *trace_reader_note(const TraceReader *reader);
