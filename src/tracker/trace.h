/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Trace: the streams of one CTF trace, how far each is in, and what was lost
 *
 * A trace is one set of LTTng buffers: of a user (per-UID), or of a process (per-PID). Events that
 * its streams lost can have been any events of any process in it.
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
 * has an unknown past. A RESUMED or FED stream that one more feeder opens stays what it is.
 */

#include "codemap/account.h"
#include "event/stream.h"
#include "tracker/gaps.h"

/* A process's key, and the uid of its owner. */
typedef struct OwnedKey {
        ProcessKey key; /* first: hash and comparison of a ProcessKey serve for it */
        uint32_t uid;
} OwnedKey;

typedef struct Trace Trace;
typedef struct TrackerStream TrackerStream;

typedef enum StreamState {
        STREAM_UNFED,   /* not open; what comes until it is fed again is missing */
        STREAM_RESUMED, /* open again, and nothing has come yet: what is missing is not known */
        STREAM_FED,     /* open */
        STREAM_QUIET,   /* not open, but a feeder of its trace reports that nothing comes of it */
        STREAM_ENDED,   /* closed by its last feeder: all of it has come */
        _STREAM_STATE_MAX,
} StreamState;

struct TrackerStream {
        Trace *trace; /* borrowed */
        uint64_t class_id;
        uint64_t stream_id;
        uint64_t watermark;              /* time of the last record applied */
        uint64_t batch;                  /* that it was in: in it, equal times are not known yet */
        uint64_t progress;               /* nothing older will come; >= watermark */
        uint64_t gap_end[_GAP_KIND_MAX]; /* latest end of the gaps applied */
        uint32_t n_feeders;              /* connections on which it is open */
        StreamState state;
};

struct Trace {
        Account *account; /* borrowed: of the user of its buffers, or of nobody */
        uint8_t uuid[16];
        BufferScheme scheme;
        uint32_t uid;
        char *hostname; /* owned */
        char *boot_id;  /* owned */
        int64_t clock_offset;
        GPtrArray *streams;    /* owned TrackerStreams */
        GArray *gaps;          /* owned, of Gap */
        bool has_unknown_past; /* it may have been known and dropped before it was over */
        bool is_visited;       /* scratch of tracker_apply_quiet() */
        guint n_processes;     /* that have events in it */
        int32_t pid;           /* PER_PID: the process as itself sees it; 0: not known */
        guint n_quiet;         /* streams */
        /* Owned or NULL: OwnedKeys (owned), by key alone: the owners of processes that the host
         * knew. */
        GHashTable *owners;
};

/* What happens to a stream. */
typedef enum StreamChange {
        STREAM_OPENED,
        STREAM_CLOSED,         /* by one of its feeders */
        STREAM_DETACHED,       /* one of its feeders vanished */
        STREAM_RECEIVED,       /* a record, progress or a gap comes */
        STREAM_REPORTED_QUIET, /* by a feeder of its trace */
        STREAM_REPORTER_LEFT,  /* no feeder of its trace vouches for that any more */
        STREAM_TRACE_CLOSED,   /* all streams of its trace that were open are closed */
} StreamChange;

Trace *trace_new(Account *account, const StreamIdentity *identity);
/* From a checkpoint: without streams. Takes over the texts of HEAD. */
Trace *trace_restore(Account *account, const Trace *head);
void trace_free(Trace *trace);
/* The stream with those ids; made if there is none. */
TrackerStream *trace_stream(Trace *trace, uint64_t class_id, uint64_t stream_id);
/* From a checkpoint: takes over STREAM. */
void trace_restore_stream(Trace *trace, TrackerStream *stream);

/* Changes n_feeders and the state. True if a gap of it ends now, which began at `progress`. */
bool stream_change(TrackerStream *stream, StreamChange change);

/* Remembers the owner of a process that has events in a trace without an owner. */
void trace_add_owner(Trace *trace, const OwnedKey *owned);
/* NULL: not known yet. */
const OwnedKey *trace_owner(const Trace *trace, const ProcessKey *key);

/* Beyond so many the oldest are merged. */
#define TRACE_MAX_GAPS 1024u
void trace_add_gap(Trace *trace, uint64_t begin, uint64_t end);
/* True if a gap touches [begin, end]. */
bool trace_has_gap(const Trace *trace, uint64_t begin, uint64_t end);

/* The length of all gaps together, in ns. */
uint64_t trace_gap_time(const Trace *trace);

/* True if none of its streams is open on a connection. */
bool trace_is_unfed(const Trace *trace);
/* True if all of it has come, and no process is left that has events in it. */
bool trace_is_over(const Trace *trace);
/* True if nothing that is known depends on it, though more may come. */
bool trace_is_idle(const Trace *trace);

/* False while a stream is UNFED or RESUMED: a gap of it is not over. */
bool trace_goes_on(const Trace *trace);

/* The time up to which every stream is in. RET_HAS_ENDED: all of them have ended. */
uint64_t trace_horizon(const Trace *trace, bool *ret_has_ended);
