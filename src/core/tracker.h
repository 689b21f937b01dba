/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Tracker: every traced process, and what the runtime's events mean
 *
 * The only code that knows what load, unload, rundown, module unload and exit mean; it turns
 * records into operations on the code map of their process. Records come by stream, each stream in
 * time order; see wire/ingest.h for the identity of a stream and for watermarks.
 */

#include "core/budget.h"
#include "core/process.h"
#include "core/record.h"
#include "wire/ingest.h"

typedef struct Tracker Tracker;

Tracker *tracker_new(void);
void tracker_free(Tracker *tracker);
/* Forgets everything, and is as new: but for budget, host, observer, and where epochs count on. */
void tracker_reset(Tracker *tracker);

/*
 * The stream of that identity, new or known from an earlier connection (then it goes on where it
 * was). Owned by the tracker, valid until tracker_free().
 */
TrackerStream *tracker_stream_open(Tracker *tracker, const IngestStream *identity);
/* Its feeder has said that the stream is over: it is in as a whole. */
void tracker_stream_close(Tracker *tracker, TrackerStream *stream);
/* Its feeder vanished. What comes until it is fed again is a gap, unless that goes back far enough.
 */
void tracker_stream_detach(Tracker *tracker, TrackerStream *stream);
/* Time of the last record applied, 0 if none was: what is at or below it is known. */
uint64_t tracker_stream_watermark(const TrackerStream *stream);

/* These drop what is known already, by watermark. The record's views are copied as needed. */
void tracker_apply_record(Tracker *tracker, TrackerStream *stream, const Record *record);
void tracker_apply_gap(Tracker *tracker, TrackerStream *stream, const IngestGap *gap);
/* Of whoever had that pid at its begin; if it has an end, of all who had it in between. */
void tracker_apply_process_gap(Tracker *tracker, const IngestProcessGap *gap);
void tracker_apply_progress(Tracker *tracker, TrackerStream *stream, uint64_t time);
/*
 * STREAMS (of TrackerStream; some NULL) are fed by one that says: of all the streams of their
 * traces everything has come up to TIME, in ns since 1970, and of those that are not open there was
 * nothing since it came. So an unfed one goes on, after what it lost before; it ends with the last
 * one fed.
 */
void tracker_apply_quiet(Tracker *tracker, const GPtrArray *streams, int64_t time);
/* Ends a batch: from here on, what is at a watermark is known, not only what is below. */
void tracker_commit(Tracker *tracker);

/* The newest generation of a process, or NULL. */
const Process *tracker_process(const Tracker *tracker, const ProcessKey *key);
/* Processes in order of appearance; borrowed array, owned by the tracker. */
const GPtrArray *tracker_processes(const Tracker *tracker);

/* Counters since the start, for `clrsym status`. */
typedef struct TrackerStats {
        uint64_t records[_EVENT_KIND_MAX];
        uint64_t known;      /* dropped: at or below a watermark */
        uint64_t impossible; /* dropped: code at addresses where no program has any */
        uint64_t refused;    /* no room */
        uint64_t gaps;
        uint64_t discarded_events; /* sum of the gaps with a known count */
        uint64_t discarded_packets;
} TrackerStats;

const TrackerStats *tracker_stats(const Tracker *tracker);
/* How long events of any trace were lost. */
double tracker_gap_seconds(const Tracker *tracker);

/* Who wants to know what changes, as it is applied. */
typedef struct TrackerObserver {
        /* A body came, or its life ended (also: it was over when it was made known). */
        void (*body)(void *data, const Process *process, const Body *body, bool is_end);
        /* At the end of a batch: for each process, that its epoch is another one. */
        void (*epoch)(void *data, const Process *process);
        void *data;
} TrackerObserver;

/* In place of an earlier one; NULL: nobody, the default. */
void tracker_observe(Tracker *tracker, const TrackerObserver *observer);

/* What is known of this machine's processes that run now, beside what their events tell. */
typedef struct TrackerHost {
        void *data;      /* for the functions */
        uint64_t pid_ns; /* of the processes that start_time knows */
        /*
         * When the program that has a pid now was started, on the clock of the events; 0: none has
         * it. A program that was started after all events so far is another one.
         */
        uint64_t (*start_time)(void *data, int32_t pid);
        /* Whose it is; false: not known. NULL: nobody asks. */
        bool (*uid)(void *data, const ProcessKey *key, uint32_t *ret_uid);
        /* True if it runs here now. NULL: nobody knows. */
        bool (*is_running)(void *data, const ProcessKey *key);
} TrackerHost;

void tracker_set_host(Tracker *tracker, const TrackerHost *host);

/* Epochs count on from here, those of processes that are there too: so that none of an earlier
 * tracker is met again. Below 2^53. */
void tracker_set_epoch(Tracker *tracker, uint64_t epoch);

/*
 * A round of ageing: processes that have been over for MAX_AGE rounds are forgotten. One is over
 * when its exit was seen, or when it does not run here any more and nothing came of it.
 */
void tracker_age(Tracker *tracker, unsigned max_age);
/* From now on it appends the serials of those that it forgets to SERIALS (borrowed; NULL: no
 * longer). */
void tracker_log_forgotten(Tracker *tracker, GArray *serials);
/* Forgets the process with that serial, if there is one. */
void tracker_forget(Tracker *tracker, uint64_t serial);

/* Behind what has come so far, something of every stream is missing: a gap is there. */
void tracker_note_loss(Tracker *tracker);

/* Streams as numbers from 0 on, in order of appearance by trace. NULL: there is none of that
 * number. */
uint32_t tracker_stream_number(const Tracker *tracker, const TrackerStream *stream);
TrackerStream *tracker_stream_by_number(const Tracker *tracker, uint32_t number);

/*
 * Most bytes that all code maps and names may take; 0: no limit, the default. What is more than
 * that goes at once, as far as it may go at all.
 */
void tracker_set_budget(Tracker *tracker, size_t n_bytes);
const Budget *tracker_budget(const Tracker *tracker);

/* Raw clock to realtime, in ns, of the newest stream; false if there was no stream yet. */
bool tracker_clock_offset(const Tracker *tracker, int64_t *ret_offset);
