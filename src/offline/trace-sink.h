/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Trace sink: where a trace that is read in this process goes: the tracker, and maybe a snapshot
 *
 * What it does to the tracker, and puts into a snapshot, is what a feeder does over an ingest
 * connection, so that both ways give the same answers.
 */

#include "event/stream.h"
#include "offline/snapshot.h"
#include "tracker/tracker.h"

typedef struct TraceSink TraceSink;

/* A stream of the trace. It is nobody's: copies of it are the same stream. */
typedef struct TraceSinkStream {
        TrackerStream
                *tracked; /* borrowed; NULL: it has none, and what comes of it is passed over */
        uint32_t number;  /* in the snapshot */
} TraceSinkStream;

/* TRACKER is borrowed. PATH names the trace in errors. */
TraceSink *trace_sink_new(const char *path, Tracker *tracker);
void trace_sink_free(TraceSink *sink);

/* IDENTITY is borrowed, for trace_sink_save() to come. */
TraceSinkStream trace_sink_open(TraceSink *sink, const StreamIdentity *identity);
/* Also saves what comes; WRITER is borrowed. Before anything has come. False with ERROR set. */
bool trace_sink_save(TraceSink *sink, SnapshotWriter *writer, GError **error);

/*
 * Takes a record. ORDER never falls: a batch of the snapshot does not end between equal ones. False
 * with ERROR set.
 */
bool trace_sink_record(TraceSink *sink, TraceSinkStream stream, const Record *record, int64_t order,
                       GError **error);
void trace_sink_gap(TraceSink *sink, TraceSinkStream stream, const StreamGap *gap);
/* Everything of the stream up to TIME has come. */
void trace_sink_progress(TraceSink *sink, TraceSinkStream stream, uint64_t time);
void trace_sink_close(TraceSink *sink, TraceSinkStream stream);

/* Adds what the sink has counted to a report of the reader. */
void trace_sink_report(const TraceSink *sink, FeederReport *report);
/* All streams are closed; REPORT has all counts. False with ERROR set. */
bool trace_sink_end(TraceSink *sink, const FeederReport *report, GError **error);
