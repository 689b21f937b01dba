/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Trace sink: passes the items of a trace to the tracker, and to a snapshot
 *
 * It treats items as an ingest connection treats a feeder's frames, so that both ways give the same
 * answers.
 */

#include "reader/event-reader.h"
#include "tracker/tracker.h"
#include "wire/snapshot.h"

typedef struct TraceSink TraceSink;

/* TRACKER is borrowed. PATH names the trace in errors. */
TraceSink *trace_sink_new(const char *path, Tracker *tracker);
void trace_sink_free(TraceSink *sink);

/* Also saves the items; WRITER is borrowed. To be called before the first item. */
void trace_sink_save(TraceSink *sink, SnapshotWriter *writer);

/* Takes the next item of a reader. The identities of streams are borrowed. False with ERROR set. */
bool trace_sink_take(TraceSink *sink, const EventItem *item, GError **error);

/* Adds what the sink has counted to a report of the reader. */
void trace_sink_report(const TraceSink *sink, FeederReport *report);
/* Everything was taken; REPORT has the reader's counters and the sink's. False with ERROR set. */
bool trace_sink_end(TraceSink *sink, const FeederReport *report, GError **error);
