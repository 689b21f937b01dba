/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Query: answers one Varlink call
 *
 * The daemon's query socket and a trace share this code. A call and a reply are one JSON object
 * each; the caller adds and removes the NUL after them.
 */

#include "tracker/answer.h"

#include <jansson.h>

/* Maximum of queries in one Resolve. */
#define QUERY_MAX_BATCH 4096
/* Maximum wait of a call, in ms. */
#define QUERY_MAX_WAIT_MS (3600 * 1000)
/* Bytes of unsent output; above it, no further call is answered. */
#define QUERY_MAX_OUTPUT (4u << 20)
/* Maximum of bytes of a reply, unless it is sent in parts. */
#define QUERY_MAX_REPLY (16u << 20)

/* Counters of the service, beside the tracker's. */
typedef struct QueryStats {
        uint64_t answers[_ANSWER_STATUS_MAX];
        unsigned n_clients;
        /* Feeders with a slot; feeders that wait for a slot; the number of slots. */
        unsigned n_feeders, n_waiting_feeders, max_feeders;
        /* Sums over all feeders, including disconnected ones. */
        uint64_t decode_errors;
        uint64_t unknown_events;
        uint64_t later_events;
        /* The journal, if one is configured. */
        bool has_journal;
        bool journal_is_failed; /* new events would not survive the daemon */
        uint64_t journal_bytes;
        /* Requests for another rundown, if the daemon sends them. */
        bool has_again;
        uint64_t again_listed, again_not_held, again_failed;
} QueryStats;

/* The memory of all connections together: calls, and unsent replies. */
typedef struct QueryMemory {
        size_t n_bytes;
        size_t limit; /* above it, no call is answered; 0: no limit */
} QueryMemory;

typedef struct QueryContext {
        const Tracker *tracker;
        Viewer viewer;    /* the asking user */
        bool is_live;     /* a daemon, where "now" is CLOCK_MONOTONIC; else a trace, where it is the
                             trace's end */
        bool is_final;    /* answer now, even if the caller would wait */
        int64_t turn_end; /* us of g_get_monotonic_time(): later, calls return QUERY_AGAIN; 0: no
                             limit */
        QueryStats *stats;   /* or NULL */
        QueryMemory *memory; /* or NULL */
} QueryContext;

/* Selects processes: all, those with a pid, or the one with a pid in a namespace. */
typedef struct ProcessFilter {
        bool has_pid, has_pid_ns;
        int64_t pid, pid_ns;
} ProcessFilter;

bool process_filter_matches(const ProcessFilter *filter, const Viewer *viewer,
                            const Process *process);

/* The caller's next step after query_call(). */
typedef enum QueryNext {
        QUERY_DONE,
        /*
         * Nothing was appended. Call again after records or progress were applied, and with
         * is_final after WAIT_MS.
         */
        QUERY_WAIT,
        QUERY_AGAIN, /* nothing was appended: the turn is over, call again */
        QUERY_MORE,  /* a part of the reply was appended: call again for the next part */
        QUERY_WATCH, /* the client gets the events of FILTER's processes from now on */
        QUERY_BULK,  /* the last JSON reply: binary frames follow */
} QueryNext;

typedef struct Resolve Resolve;

/*
 * The condition of a waiting call: all events of a process up to a time have arrived; or, if the
 * process is not known, another process becomes known.
 */
typedef struct QueryWait {
        ProcessKey key;
        uint32_t uid;
        uint64_t serial;    /* of the process; 0: it is not known */
        uint64_t time;      /* ns */
        uint64_t n_changes; /* number of the tracker's processes at the start */
} QueryWait;

/* The present time for a question, in ns; 0: a trace, which has ended. */
uint64_t query_now(const QueryContext *context);

/* For a question about PROCESS (NULL: not known) at TIME. */
QueryWait query_wait_begin(const Tracker *tracker, const Process *process, uint64_t time);
/* True if the answer may have changed. */
bool query_wait_is_over(const QueryWait *wait, const Tracker *tracker);

/* The state of one call; initially zero. */
typedef struct QueryProgress {
        json_t *call;     /* owned or NULL: the needed, parsed parts of a continued call */
        size_t n_text;    /* bytes of its text */
        GString *reply;   /* owned or NULL: the present part */
        Resolve *resolve; /* owned or NULL: the questions, and the answers so far */
        unsigned wait_ms;
        QueryWait wait; /* valid with QUERY_WAIT */
        ProcessFilter filter;
        /* Where a list continues. */
        bool is_begun;
        unsigned n_rows; /* rows in the present part */
        void *sums;      /* owned or NULL: counts of the bodies of the process's modules */
        guint n_modules; /* modules in the sums */
        uint32_t n_seen; /* bodies counted in the sums */
        uint64_t serial; /* of the process of the next row */
        uint32_t number; /* of the body or module */
        uint64_t time;
        unsigned bulk_version; /* valid with QUERY_BULK: the requested version */
} QueryProgress;

/*
 * Appends the reply to OUT; errors are replies, too. A call with "oneway" has no reply. To continue
 * a call, CALL is not needed.
 */
/* Except after DONE, BULK and WATCH, the progress owns data. */
QueryNext query_call(const QueryContext *context, const char *call, size_t n_call,
                     QueryProgress *progress, GString *out);

/* Ends a call, and zeroes the progress. */
void query_progress_clear(QueryProgress *progress);
/* Approximate memory, in bytes. */
size_t query_progress_size(const QueryProgress *progress);

/* Appends {"error":ERROR,"parameters":{KEY:VALUE}}; KEY may be NULL. */
void query_append_error(GString *out, const char *error, const char *key, const char *value);
