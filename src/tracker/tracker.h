/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Tracker: every traced process, and the meaning of the runtime's events
 *
 * No other code knows the meaning of load, unload, rundown, module unload and exit; the tracker
 * turns records into operations on the code map of their process. Records come by stream, each
 * stream in time order; clrsym-ingest(7) explains the identity of a stream and watermarks.
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
 * The stream of that identity: new, or continued from an earlier connection. Owned by the tracker.
 */
TrackerStream *tracker_stream_open(Tracker *tracker, const StreamIdentity *identity);
/* The feeder has closed the stream, which is complete. */
void tracker_stream_close(Tracker *tracker, TrackerStream *stream);
/*
 * The feeder has vanished. Until the next feeder there is a gap, unless that feeder repeats enough.
 */
void tracker_stream_detach(Tracker *tracker, TrackerStream *stream);
/* Time of the last record applied; 0: none. Records up to it are known. */
uint64_t tracker_stream_watermark(const TrackerStream *stream);

/*
 * Applies an item, or drops it if it is known, by the watermark. The needed parts of the record are
 * copied.
 */
void tracker_apply_record(Tracker *tracker, TrackerStream *stream, const Record *record);
/*
 * Sets the name of the program that had the record's process at its time. The record needs no
 * event.
 */
void tracker_apply_program(Tracker *tracker, TrackerStream *stream, const Record *record);
void tracker_apply_gap(Tracker *tracker, TrackerStream *stream, const StreamGap *gap);
/*
 * Concerns the process that had the pid at the gap's begin; if the gap has an end, all processes
 * that have had the pid since.
 */
void tracker_apply_process_gap(Tracker *tracker, const ProcessGap *gap);
void tracker_apply_progress(Tracker *tracker, TrackerStream *stream, uint64_t time);
/*
 * The feeder of STREAMS (of TrackerStream; some NULL) reports that its traces are complete up to
 * TIME (ns since 1970), and that the traces' streams which are not open have no events. These
 * streams become quiet: their earlier loss is a gap, and they progress with TIME.
 */
void tracker_apply_quiet(Tracker *tracker, const GPtrArray *streams, int64_t time);
/* Ends a batch: a later record at a stream's watermark, not only below it, is known then. */
void tracker_commit(Tracker *tracker);

/*
 * The newest generation of a process, or NULL. If several users have events of that key, the
 * process with the latest event.
 */
const Process *tracker_process(const Tracker *tracker, const ProcessKey *key);
/* The newest generation of that user's process, or NULL. */
const Process *tracker_process_of(const Tracker *tracker, const ProcessKey *key, uint32_t uid);
bool tracker_is_newest(const Tracker *tracker, const Process *process);
/* False if the host knows another owner of that pid: then the events are forged. */
bool tracker_may_be_running(const Tracker *tracker, const Process *process);
typedef enum ProcessLife {
        PROCESS_RUNNING,  /* or its end is not known yet */
        PROCESS_EXITED,   /* its end is known */
        PROCESS_RECORDED, /* its traces are complete without its end, and the host does not have it:
                           * no more events will come */
        _PROCESS_LIFE_MAX,
} ProcessLife;

ProcessLife tracker_process_life(const Tracker *tracker, const Process *process);
/*
 * The generation of the same process that had the pid at TIME; if TIME is before all, the first
 * one.
 */
const Process *tracker_generation_at(const Tracker *tracker, const Process *newest, uint64_t time);
/* The Identities (tracker/identity.h) with that pid; NULL: none. Borrowed. */
const GPtrArray *tracker_identities(const Tracker *tracker, int32_t pid);
/* The owner, known to the host, of the program that has that pid now. */
bool tracker_owner(const Tracker *tracker, const ProcessKey *key, uint32_t *ret_uid);
/* The number of all processes ever. */
uint64_t tracker_n_processes_ever(const Tracker *tracker);
/*
 * Processes in order of appearance, which is the order of their serials; borrowed array, owned by
 * the tracker.
 */
const GPtrArray *tracker_processes(const Tracker *tracker);
/*
 * The index of the first process with that serial or a higher one; the number of processes if there
 * is none.
 */
guint tracker_process_index(const Tracker *tracker, uint64_t serial);

/* Counters since the start, for `clrsym status`. */
typedef struct TrackerStats {
        uint64_t records[_EVENT_KIND_MAX];
        uint64_t known;      /* dropped: at or below a watermark */
        uint64_t impossible; /* dropped: code at impossible addresses */
        uint64_t refused;    /* dropped: there was no room */
        uint64_t forged;     /* dropped: from buffers of another user than the process's */
        uint64_t gaps;
        uint64_t discarded_events; /* sum of the gaps with a known count */
        uint64_t discarded_packets;
} TrackerStats;

const TrackerStats *tracker_stats(const Tracker *tracker);
/* The length of all traces' gaps, in seconds. */
double tracker_gap_seconds(const Tracker *tracker);

/* Called for each change while it is applied. */
typedef struct TrackerObserver {
        /* A body was added, or its life ended (even if it had ended when it became known). */
        void (*body)(void *data, const Process *process, const Body *body, bool is_end);
        /*
         * At the end of a batch, for each process whose epoch has changed; and at the process's
         * end.
         */
        void (*epoch)(void *data, const Process *process);
        void *data;
} TrackerObserver;

/* Replaces an earlier observer; NULL: none, the default. */
void tracker_observe(Tracker *tracker, const TrackerObserver *observer);

/* The host's knowledge of running processes, besides their events. */
typedef struct TrackerHost {
        void *data;      /* for the callbacks */
        uint64_t pid_ns; /* the pid namespace of start_time */
        /*
         * The start time of the program that has a pid now, ns on the clock of the events; 0: no
         * program has it. A program started after a process's latest event is another process.
         */
        uint64_t (*start_time)(void *data, int32_t pid);
        /*
         * The owner of the program that has the pid now, if it was started by TIME. False: there is
         * no such program, or it has no single owner. NULL: the host never knows.
         */
        bool (*uid)(void *data, const ProcessKey *key, uint64_t time, uint32_t *ret_uid);
        /* True if the process runs on this host now. NULL: the host never knows. */
        bool (*is_running)(void *data, const ProcessKey *key);
} TrackerHost;

void tracker_set_host(Tracker *tracker, const TrackerHost *host);

/*
 * Epochs continue from EPOCH, and all processes get a new one, so that no epoch of an earlier
 * tracker is reused. EPOCH is below 2^53.
 */
void tracker_set_epoch(Tracker *tracker, uint64_t epoch);
/* The last used epoch. */
uint64_t tracker_last_epoch(const Tracker *tracker);

/*
 * A round of ageing: drops processes that have been over for MAX_AGE rounds. A process is over if
 * its exit was seen, or if it no longer runs on this host and no events of it come.
 */
void tracker_age(Tracker *tracker, unsigned max_age);
/*
 * From now on tracker_age() appends the serials of dropped processes to SERIALS (borrowed; NULL:
 * stop).
 */
void tracker_log_forgotten(Tracker *tracker, GArray *serials);
/* Drops the process with that serial, if there is one. */
void tracker_forget(Tracker *tracker, uint64_t serial);
/*
 * The host has found that the process with that serial had ended by TIME, ns. False, without a
 * change: there is no such process, or its exit is known.
 */
bool tracker_end_process(Tracker *tracker, uint64_t serial, uint64_t time);
/*
 * The host has found the process with that serial, and its command line; the runtime's own command
 * line takes precedence. False: there is no such process, or both were known.
 */
bool tracker_set_command(Tracker *tracker, uint64_t serial, const char *command);

/* Adds a gap after the present end of every stream. */
void tracker_note_loss(Tracker *tracker);

/* Streams by number, from 0 on, by trace in order of appearance. NULL: no stream has the number. */
uint32_t tracker_stream_number(const Tracker *tracker, const TrackerStream *stream);
TrackerStream *tracker_stream_by_number(const Tracker *tracker, uint32_t number);

/*
 * Limits the bytes of all code maps and names; 0: no limit, the default. Evicts the excess at once,
 * as far as possible.
 */
void tracker_set_budget(Tracker *tracker, size_t n_bytes);
const Budget *tracker_budget(const Tracker *tracker);

/*
 * The times of the first and the last event of all processes, including dropped ones; UINT64_MAX
 * and 0: no event came.
 */
void tracker_range(const Tracker *tracker, uint64_t *ret_first, uint64_t *ret_last);

/* Raw clock to realtime, in ns, of the newest stream; false if no stream ever came. */
bool tracker_clock_offset(const Tracker *tracker, int64_t *ret_offset);
