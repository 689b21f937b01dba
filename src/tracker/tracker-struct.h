/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What a tracker consists of: for tracker*.c and checkpoint*.c
 */

#include "tracker/budget.h"
#include "tracker/identity.h"
#include "tracker/tracker.h"

/* A process gap that waits for the first event of its process. */
typedef struct PendingGap {
        ProcessGap gap;
        uint32_t uid; /* of the process's owner then; PROCESS_OF_NOBODY: not known */
} PendingGap;

/* So many traces are kept although they are over. */
#define TRACKER_FEW_TRACES 64u
/* So many traces are kept whose feeders vanished, and that no known process has events in. */
#define TRACKER_MAX_IDLE_TRACES 256u

struct Tracker {
        Account account;       /* the total */
        Owners owners;         /* of the processes */
        Strtab *names;         /* of all processes */
        GPtrArray *traces;     /* owned Traces */
        guint n_most_traces;   /* with more of them, those that are over are dropped */
        double dropped_gaps;   /* s: the gaps of traces that were dropped */
        bool has_dropped_idle; /* one that may be fed again: how far it was in is not known */
        GPtrArray *processes;  /* owned Processes, in order of appearance */
        Identities identities;
        Budget budget;
        TrackerHost host;
        TrackerObserver observer;
        GArray *changes;   /* of CodeMapChange: by the record that is being applied */
        GArray *forgotten; /* borrowed or NULL: of serials, of processes that aged too much */
        TrackerStats stats;
        Trace *last_trace;    /* borrowed: of the newest stream */
        uint64_t batch;       /* number of the batch that is being applied */
        uint64_t n_serials;   /* given to processes */
        uint64_t first, last; /* times of the first and the last event; UINT64_MAX, 0: none came */
        GArray *pending_gaps; /* of PendingGap: reported of processes that have no event yet */
        GHashTable *forged;   /* owned: ProcessKey (owned) -> uid of the buffers, in this batch */
};

/* The process has events of these times. */
void tracker_note_range(Tracker *tracker, uint64_t first, uint64_t last);
/* Reports the epoch of PROCESS to the observer, if it has changed. */
void tracker_report_epoch(Tracker *tracker, Process *process);
/* Applies the pending gaps of PROCESS, which is new. */
void tracker_apply_pending_gaps(Tracker *tracker, Process *process);
/* What is kept of a trace of these buffers is booked there. */
Account *tracker_trace_account(Tracker *tracker, BufferScheme scheme, uint32_t uid);
/* Drops the traces that are over, if there are many. */
void tracker_drop_traces(Tracker *tracker);
/* Keeps a gap of a process that is not known yet. */
void tracker_add_pending_gap(Tracker *tracker, const PendingGap *pending);
/*
 * Sets the owner that is part of the identity of the record's process. False if the record is
 * forged: it is from one user's buffers, and another user's program has its pid.
 */
bool tracker_record_owner(Tracker *tracker, Trace *trace, const Record *record, uint32_t *ret_uid);
/* Something of the stream comes, of TIME: after a feeder vanished, a gap ends there. */
void stream_receive(TrackerStream *stream, uint64_t time);
