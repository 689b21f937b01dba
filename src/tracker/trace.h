/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Trace: the streams of one CTF trace, their progress, and their losses
 *
 * A trace is one set of LTTng buffers: of a user (per-UID), or of a process (per-PID). The lost
 * events of its streams can be any events of any process in the trace.
 *
 * The state of a stream:
 *
 *            open               something comes
 *   UNFED ----------> RESUMED -----------------> FED <--- open --- QUIET or ENDED
 *     ^                  |                        |
 *     +------------------+------------------------+  the last feeder vanishes
 *                        +------------------------+  the last feeder closes it ---> ENDED
 *
 *   UNFED --- a feeder of its trace reports that nothing comes of it ---> QUIET
 *   QUIET --- a feeder of its trace vanishes ---> UNFED
 *   QUIET --- all open streams of its trace are closed ---> ENDED
 *
 * A stream without any progress goes from UNFED to FED: nothing can be missing, unless the trace
 * has an unknown past. A RESUMED or FED stream stays so when another feeder opens it.
 */

#include "codemap/account.h"
#include "event/stream.h"
#include "tracker/gaps.h"

/* A process's key, and the uid of its owner. */
typedef struct OwnedKey {
        ProcessKey key; /* first: hash and comparison of a ProcessKey work on it, too */
        uint32_t uid;
} OwnedKey;

typedef struct Trace Trace;
typedef struct TrackerStream TrackerStream;

typedef enum StreamState {
        STREAM_UNFED,   /* not open: events until the next feeder are missing */
        STREAM_RESUMED, /* open again, without any item yet: the loss is not known */
        STREAM_FED,     /* open */
        STREAM_QUIET,   /* not open, but a feeder of its trace reports that it has no events */
        STREAM_ENDED,   /* its last feeder closed it: it is complete */
        _STREAM_STATE_MAX,
} StreamState;

struct TrackerStream {
        Trace *trace; /* borrowed */
        uint64_t class_id;
        uint64_t stream_id;
        uint64_t watermark;              /* ns: time of the last record applied */
        uint64_t batch;                  /* the watermark's batch: within it, a record of an equal
                                          * time is new */
        uint64_t progress;               /* ns: no older event will come; >= watermark */
        uint64_t gap_end[_GAP_KIND_MAX]; /* ns: latest end of the gaps applied */
        uint32_t n_feeders;              /* connections on which it is open */
        StreamState state;
};

struct Trace {
        Account *account; /* borrowed: of the buffers' user, or of nobody */
        uint8_t uuid[16];
        BufferScheme scheme;
        uint32_t uid;
        char *hostname; /* owned */
        char *boot_id;  /* owned */
        int64_t clock_offset;
        GPtrArray *streams;    /* owned TrackerStreams */
        GArray *gaps;          /* owned, of Gap */
        bool has_unknown_past; /* it may have been known, and dropped before its end */
        bool is_visited;       /* scratch of tracker_apply_quiet() */
        guint n_processes;     /* with events in it */
        int32_t pid;           /* PER_PID: the process's pid in its own namespace; 0: not known */
        guint n_quiet;         /* streams */
        /* Owned or NULL: OwnedKeys (owned), by key alone: the owners known to the host. */
        GHashTable *owners;
};

/* An event in the life of a stream. */
typedef enum StreamChange {
        STREAM_OPENED,
        STREAM_CLOSED,         /* by one of its feeders */
        STREAM_DETACHED,       /* one of its feeders vanished */
        STREAM_RECEIVED,       /* a record, progress or a gap comes */
        STREAM_REPORTED_QUIET, /* by a feeder of its trace */
        STREAM_REPORTER_LEFT,  /* no feeder of its trace reports it any more */
        STREAM_TRACE_CLOSED,   /* all streams of its trace that were open are closed */
} StreamChange;

Trace *trace_new(Account *account, const StreamIdentity *identity);
/* From a checkpoint: makes a trace without streams. Takes over the texts of HEAD. */
Trace *trace_restore(Account *account, const Trace *head);
void trace_free(Trace *trace);
/* The stream with those ids, made if there is none. */
TrackerStream *trace_stream(Trace *trace, uint64_t class_id, uint64_t stream_id);
/* From a checkpoint: takes over STREAM. */
void trace_restore_stream(Trace *trace, TrackerStream *stream);

/* Changes n_feeders and the state. True if a gap of it ends now that began at `progress`. */
bool stream_change(TrackerStream *stream, StreamChange change);

/* Remembers the owner of a process that has events in a trace without an owner. */
void trace_add_owner(Trace *trace, const OwnedKey *owned);
/* NULL: not known yet. */
const OwnedKey *trace_owner(const Trace *trace, const ProcessKey *key);

/* If there are more, the oldest gaps are merged. */
#define TRACE_MAX_GAPS 1024u
void trace_add_gap(Trace *trace, uint64_t begin, uint64_t end);
/* True if a gap touches [begin, end]. */
bool trace_has_gap(const Trace *trace, uint64_t begin, uint64_t end);

/* The length of all gaps together, in ns. */
uint64_t trace_gap_time(const Trace *trace);

/* True if no connection has one of its streams open. */
bool trace_is_unfed(const Trace *trace);
/* True if the trace is complete, and no process is left with events in it. */
bool trace_is_over(const Trace *trace);
/* True if no known data depends on the trace, though more may come. */
bool trace_is_idle(const Trace *trace);

/* False while a stream is UNFED or RESUMED, because its gap has no end yet. */
bool trace_goes_on(const Trace *trace);

/* The time up to which every stream has arrived. RET_HAS_ENDED: all of them have ended. */
uint64_t trace_horizon(const Trace *trace, bool *ret_has_ended);
