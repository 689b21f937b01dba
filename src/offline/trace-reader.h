/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Trace reader: reads a trace or a snapshot of one into a tracker
 *
 * On the default main context, without blocking for longer than a piece of a file takes. While it
 * reads it can save a snapshot of what it reads.
 */

#include "tracker/tracker.h"

typedef struct TraceReader TraceReader;

typedef struct TraceReaderOptions {
        const char *path; /* directory with CTF traces, here or below; or snapshot; or nettrace */
        const char *save; /* NULL, or where a snapshot is to be saved */
        bool jit_events;  /* also reads the events about the JIT's work */
} TraceReaderOptions;

/* It is over. ERROR, which the callee owns, is the reason why nothing can be answered; NULL:
 * everything was read. */
typedef void (*TraceReaderDone)(void *data, GError *error);

/*
 * Begins to read. TRACKER and what OPTIONS points to are borrowed. DONE is called once, from the
 * main context (it may free the reader). NULL with ERROR set if it cannot even begin: then DONE is
 * not called.
 */
TraceReader *trace_reader_new(const TraceReaderOptions *options, Tracker *tracker,
                              TraceReaderDone done, void *data, GError **error);
/* Stops what is under way, and removes what it made. */
void trace_reader_free(TraceReader *reader);

/* Bytes of the trace's stream files, or of the snapshot; never less than before. */
void trace_reader_progress(TraceReader *reader, uint64_t *ret_read, uint64_t *ret_total);

/* What is worth knowing of what was read, one line, borrowed; NULL: nothing. */
const char *trace_reader_note(const TraceReader *reader);
