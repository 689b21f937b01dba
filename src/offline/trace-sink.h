/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Trace sink: where the items of a trace go: the tracker, and maybe a snapshot
 *
 * What the sink does to the tracker, and puts into a snapshot, is what a feeder does over an ingest
 * connection, so that both ways give the same answers.
 */

#include "reader/event-reader.h"
#include "tracker/tracker.h"
#include "wire/snapshot.h"

typedef struct TraceSink TraceSink;

/* TRACKER is borrowed. PATH names the trace in errors. */
TraceSink *trace_sink_new(const char *path, Tracker *tracker);
void trace_sink_free(TraceSink *sink);

/* Also saves what comes; WRITER is borrowed. Before anything has come. */
void trace_sink_save(TraceSink *sink, SnapshotWriter *writer);

/* Takes the next item of a reader. The identities of streams are borrowed. False with ERROR set. */
bool trace_sink_take(TraceSink *sink, const EventItem *item, GError **error);

/* Adds what the sink has counted to a report of the reader. */
void trace_sink_report(const TraceSink *sink, FeederReport *report);
/* Everything was taken; REPORT has all counts. False with ERROR set. */
bool trace_sink_end(TraceSink *sink, const FeederReport *report, GError **error);
