/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What a tracker consists of: for tracker.c, and for images of it
 */

#include "core/budget.h"
#include "core/tracker.h"

struct Tracker {
        Account account;
        Strtab *names;        /* of all processes */
        GPtrArray *traces;    /* owned Traces */
        GPtrArray *processes; /* owned Processes, in order of appearance */
        GHashTable *newest;   /* borrowed ProcessKey (of its value) -> borrowed newest Process */
        Budget budget;
        TrackerHost host;
        TrackerObserver observer;
        GArray *changes;   /* of CodeMapChange: by the record that is being applied */
        GArray *forgotten; /* borrowed or NULL: of serials, of processes that aged too much */
        TrackerStats stats;
        Trace *last_trace;  /* borrowed: of the newest stream */
        uint64_t batch;     /* number of the batch that is being applied */
        uint64_t n_serials; /* given to processes */
        GArray *early;      /* of IngestProcessGap: of processes of which nothing came yet */
};

/* What was told of PROCESS, which is new, before any event of it. */
void tracker_tell_early(Tracker *tracker, Process *process);
/* For one that is not known yet. */
void tracker_add_early(Tracker *tracker, const IngestProcessGap *gap);
/* Something of the stream came: does it follow on what was there before its feeder vanished? */
void stream_resume(TrackerStream *stream, uint64_t time);
