/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Trace: the streams of one CTF trace, how far each is in, and what was lost
 *
 * One trace is one set of LTTng buffers: of a user (per-UID), or of a process (per-PID). What its
 * streams lost can have been any event of any process in it.
 */

#include "core/gaps.h"
#include "wire/ingest.h"

typedef struct Trace Trace;
typedef struct TrackerStream TrackerStream;

struct TrackerStream {
        Trace *trace; /* borrowed */
        uint64_t class_id;
        uint64_t stream_id;
        uint64_t watermark;              /* time of the last record applied */
        uint64_t batch;                  /* that it was in: within it, equal times are news */
        uint64_t progress;               /* nothing older will come; >= watermark */
        uint64_t gap_end[_GAP_KIND_MAX]; /* latest end of the gaps applied */
        unsigned n_feeders;              /* open on so many connections */
        bool has_ended;                  /* its last feeder closed it: it is in as a whole */
        bool is_resumed; /* fed again after its feeder vanished, and not yet shown to go on */
        bool is_quiet;   /* open on none, but a feeder of another one of the trace tells of it */
};

struct Trace {
        uint8_t uuid[16];
        BufferScheme scheme;
        uint32_t uid;
        char *hostname; /* owned */
        char *boot_id;  /* owned */
        int64_t clock_offset;
        GPtrArray *streams; /* owned */
        GArray *gaps;       /* of Gap */
        bool is_told;       /* for tracker_apply_quiet() */
};

Trace *trace_new(const IngestStream *identity);
void trace_free(Trace *trace);
TrackerStream *trace_stream(Trace *trace, uint64_t class_id, uint64_t stream_id);

void trace_add_gap(Trace *trace, uint64_t begin, uint64_t end);
/* True if a gap touches [begin, end]. */
bool trace_has_gap(const Trace *trace, uint64_t begin, uint64_t end);

/* How long the gaps are together, in ns. */
uint64_t trace_gap_time(const Trace *trace);

/* True if none of its streams is open on a connection. */
bool trace_is_unfed(const Trace *trace);

/* False while a stream waits for its feeder, or for the first from it: a gap of it is not over. */
bool trace_goes_on(const Trace *trace);

/* The time up to which every stream is in. RET_HAS_ENDED: they are in as a whole. */
uint64_t trace_horizon(const Trace *trace, bool *ret_has_ended);
