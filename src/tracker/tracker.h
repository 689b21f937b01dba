/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Tracker: every traced process, and what the runtime's events mean
 *
 * The only code that knows what load, unload, rundown, module unload and exit mean; it turns
 * records into operations on the code map of their process. Records come by stream, each stream in
 * time order; clrsym-ingest(7) explains the identity of a stream and watermarks.
 */

#include "event/record.h"
#include "event/stream.h"
#include "tracker/budget.h"
#include "tracker/process.h"

typedef struct Tracker Tracker;

Tracker *tracker_new(void);
void tracker_free(Tracker *tracker);
/* Forgets everything except the budget, the host, the observer and the latest epoch. */
void tracker_reset(Tracker *tracker);

/*
 * The stream of that identity, new or known from an earlier connection (then it continues there).
 * Owned by the tracker.
 */
TrackerStream *tracker_stream_open(Tracker *tracker, const StreamIdentity *identity);
/* Its feeder has closed the stream: all of it has come. */
void tracker_stream_close(Tracker *tracker, TrackerStream *stream);
/* Its feeder vanished. Until it is fed again there is a gap, unless the next feeder repeats enough.
 */
void tracker_stream_detach(Tracker *tracker, TrackerStream *stream);
/* Time of the last record applied, 0 if none was: records up to it are known. */
uint64_t tracker_stream_watermark(const TrackerStream *stream);

/* These drop what is known already, by the watermark. What is needed of the record is copied. */
void tracker_apply_record(Tracker *tracker, TrackerStream *stream, const Record *record);
/* The name of the program that had the record's process at its time. The record needs no event. */
void tracker_apply_program(Tracker *tracker, TrackerStream *stream, const Record *record);
void tracker_apply_gap(Tracker *tracker, TrackerStream *stream, const StreamGap *gap);
/* Concerns the process that had the pid at its begin; if it has an end, all that had it since. */
void tracker_apply_process_gap(Tracker *tracker, const ProcessGap *gap);
void tracker_apply_progress(Tracker *tracker, TrackerStream *stream, uint64_t time);
/*
 * The feeder of STREAMS (of TrackerStream; some NULL) reports that everything of their traces has
 * come up to TIME (ns since 1970), and that nothing comes of the traces' streams that are not open.
 * Those become quiet: what they lost before is a gap, and they progress with TIME.
 */
void tracker_apply_quiet(Tracker *tracker, const GPtrArray *streams, int64_t time);
/* Ends a batch: a later record at a stream's watermark is known, not only one below it. */
void tracker_commit(Tracker *tracker);

/*
 * The newest generation of a process, or NULL. If several users have events of that key, the
 * process that has the latest event.
 */
const Process *tracker_process(const Tracker *tracker, const ProcessKey *key);
/* The newest generation of that user's process, or NULL. */
const Process *tracker_process_of(const Tracker *tracker, const ProcessKey *key, uint32_t uid);
bool tracker_is_newest(const Tracker *tracker, const Process *process);
/* False if the host knows another owner of that pid: then the events of it are made up. */
bool tracker_may_be_running(const Tracker *tracker, const Process *process);
typedef enum ProcessLife {
        PROCESS_RUNNING,  /* or its end has not come yet */
        PROCESS_EXITED,   /* its end is known */
        PROCESS_RECORDED, /* its traces are over, its end is not in them, and the host does not have
                             it: nothing more will be known of it */
        _PROCESS_LIFE_MAX,
} ProcessLife;

ProcessLife tracker_process_life(const Tracker *tracker, const Process *process);
/* The generation of the same process that had the pid at TIME; before all of them, the first. */
const Process *tracker_generation_at(const Tracker *tracker, const Process *newest, uint64_t time);
/* The Identities (tracker/identity.h) with that pid; NULL: none. Borrowed. */
const GPtrArray *tracker_identities(const Tracker *tracker, int32_t pid);
/* The owner of the program that has that pid now, as the host knows it. */
bool tracker_owner(const Tracker *tracker, const ProcessKey *key, uint32_t *ret_uid);
/* How many processes there ever were. */
uint64_t tracker_n_processes_ever(const Tracker *tracker);
/* Processes in order of appearance, which is that of their serials; borrowed array, owned by the
 * tracker. */
const GPtrArray *tracker_processes(const Tracker *tracker);
/* The index of the first process with that serial or a higher one; their number if there is none.
 */
guint tracker_process_index(const Tracker *tracker, uint64_t serial);

/* Counters since the start, for `clrsym status`. */
typedef struct TrackerStats {
        uint64_t records[_EVENT_KIND_MAX];
        uint64_t known;      /* dropped: at or below a watermark */
        uint64_t impossible; /* dropped: code at addresses where no program has any */
        uint64_t refused;    /* dropped: there was no room */
        uint64_t forged;     /* dropped: of another user's process than its buffers */
        uint64_t gaps;
        uint64_t discarded_events; /* sum of the gaps with a known count */
        uint64_t discarded_packets;
} TrackerStats;

const TrackerStats *tracker_stats(const Tracker *tracker);
/* The length of all traces' gaps, in seconds. */
double tracker_gap_seconds(const Tracker *tracker);

/* Is called for each change while it is applied. */
typedef struct TrackerObserver {
        /* A body was added, or its life ended (also if it was over when it became known). */
        void (*body)(void *data, const Process *process, const Body *body, bool is_end);
        /* At the end of a batch, for each process whose epoch has changed; and at its end. */
        void (*epoch)(void *data, const Process *process);
        void *data;
} TrackerObserver;

/* Replaces an earlier observer; NULL: none, the default. */
void tracker_observe(Tracker *tracker, const TrackerObserver *observer);

/* What the host knows of processes that run now, besides their events. */
typedef struct TrackerHost {
        void *data;      /* for the functions */
        uint64_t pid_ns; /* the pid namespace that start_time knows */
        /*
         * When the program that has a pid now was started, ns on the clock of the events; 0: none
         * has it. A program that was started after a process's latest event is another process.
         */
        uint64_t (*start_time)(void *data, int32_t pid);
        /*
         * The owner of the program that has the pid now, if it was started by TIME; false: there is
         * none, or it has no single owner. NULL: is never known.
         */
        bool (*uid)(void *data, const ProcessKey *key, uint64_t time, uint32_t *ret_uid);
        /* True if it runs on this host now. NULL: is never known. */
        bool (*is_running)(void *data, const ProcessKey *key);
} TrackerHost;

void tracker_set_host(Tracker *tracker, const TrackerHost *host);

/*
 * Epochs continue from here, and all processes get a new one, so that no epoch of an earlier
 * tracker is used again. Below 2^53.
 */
void tracker_set_epoch(Tracker *tracker, uint64_t epoch);
/* The last epoch that was used. */
uint64_t tracker_last_epoch(const Tracker *tracker);

/*
 * A round of ageing: processes that have been over for MAX_AGE rounds are forgotten. A process is
 * over when its exit was seen, or when it no longer runs on this host and no event of it comes.
 */
void tracker_age(Tracker *tracker, unsigned max_age);
/* From now on tracker_age() appends the serials of what it forgets to SERIALS (borrowed; NULL:
 * stop). */
void tracker_log_forgotten(Tracker *tracker, GArray *serials);
/* Forgets the process with that serial, if there is one. */
void tracker_forget(Tracker *tracker, uint64_t serial);
/*
 * The host has found out that the process with that serial had ended by TIME, ns. Nothing changes
 * if its exit is known. False: there is no such process, or its exit is known.
 */
bool tracker_end_process(Tracker *tracker, uint64_t serial, uint64_t time);
/* The host has found the process with that serial, and its command line, over which the runtime's
 * own takes precedence. False: there is no such process, or both were known. */
bool tracker_set_command(Tracker *tracker, uint64_t serial, const char *command);

/* After what has come so far, events of every stream are missing: adds a gap there. */
void tracker_note_loss(Tracker *tracker);

/* Streams by number, from 0 on, by trace in order of appearance. NULL: no stream has the number. */
uint32_t tracker_stream_number(const Tracker *tracker, const TrackerStream *stream);
TrackerStream *tracker_stream_by_number(const Tracker *tracker, uint32_t number);

/*
 * Limits the bytes of all code maps and names; 0: no limit, the default. Evicts at once what is
 * more than that, as far as it may be evicted.
 */
void tracker_set_budget(Tracker *tracker, size_t n_bytes);
const Budget *tracker_budget(const Tracker *tracker);

/* The times of the first and the last event of all processes, also of those that are forgotten;
 * UINT64_MAX and 0 if none came. */
void tracker_range(const Tracker *tracker, uint64_t *ret_first, uint64_t *ret_last);

/* Raw clock to realtime, in ns, of the newest stream; false if there was no stream yet. */
bool tracker_clock_offset(const Tracker *tracker, int64_t *ret_offset);
