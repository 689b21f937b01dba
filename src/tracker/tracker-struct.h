/* SPDX-License-Identifier: MIT */
#pragma once

/* The members of a tracker, for tracker*.c and checkpoint*.c */

#include "tracker/budget.h"
#include "tracker/identity.h"
#include "tracker/tracker.h"

/* A process gap waiting for the first event of its process. */
typedef struct PendingGap {
        ProcessGap gap;
        uint32_t uid; /* of the process's owner then; PROCESS_OF_NOBODY: not known */
} PendingGap;

/* Finished traces kept. */
#define TRACKER_FEW_TRACES 64u
/* Traces kept that have lost their feeders and have no events of a known process. */
#define TRACKER_MAX_IDLE_TRACES 256u

struct Tracker {
        Account account;       /* the total */
        Owners owners;         /* of the processes */
        Strtab *names;         /* of all processes */
        GPtrArray *traces;     /* owned Traces */
        guint n_most_traces;   /* if there are more, finished traces are dropped */
        double dropped_gaps;   /* s: the gaps of traces that were dropped */
        bool has_dropped_idle; /* an idle trace was dropped: its progress is no longer known */
        GPtrArray *processes;  /* owned Processes, in order of appearance */
        Identities identities;
        Budget budget;
        TrackerHost host;
        TrackerObserver observer;
        GArray *changes;   /* of CodeMapChange: changes by the record being applied */
        GArray *forgotten; /* borrowed or NULL: of serials, of processes dropped by age */
        TrackerStats stats;
        Trace *last_trace;    /* borrowed: of the newest stream */
        uint64_t batch;       /* number of the batch being applied */
        uint64_t n_serials;   /* serials given to processes */
        uint64_t first, last; /* times of the first and the last event; UINT64_MAX and 0: no event
                               * came */
        GArray *pending_gaps; /* of PendingGap: reported for processes without any event yet */
        GHashTable *forged;   /* owned: ProcessKey (owned) -> uid of the buffers: forged in this
                               * batch */
};

/* The process has events from FIRST to LAST. */
void tracker_note_range(Tracker *tracker, uint64_t first, uint64_t last);
/* Reports the epoch of PROCESS to the observer, if it has changed. */
void tracker_report_epoch(Tracker *tracker, Process *process);
/* Applies the pending gaps of PROCESS, which is new. */
void tracker_apply_pending_gaps(Tracker *tracker, Process *process);
/* The account for a trace of these buffers. */
Account *tracker_trace_account(Tracker *tracker, BufferScheme scheme, uint32_t uid);
/* Drops finished traces, if there are many. */
void tracker_drop_traces(Tracker *tracker);
/* Keeps a gap of an unknown process. */
void tracker_add_pending_gap(Tracker *tracker, const PendingGap *pending);
/*
 * Sets the owner, which is part of the identity of the record's process. False if the record is
 * forged: it came from one user's buffers, but another user's program has its pid.
 */
bool tracker_record_owner(Tracker *tracker, Trace *trace, const Record *record, uint32_t *ret_uid);
/* An item of the stream comes, of TIME: if a feeder had vanished, the gap ends there. */
void stream_receive(TrackerStream *stream, uint64_t time);
