/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Query: one Varlink call in, its reply out
 *
 * The same code answers on the daemon's query socket and for a trace. A call and a reply are one
 * JSON object each; the caller adds and removes the NUL after them.
 */

#include "tracker/answer.h"

#include <jansson.h>

/* Most queries in one Resolve. */
#define QUERY_MAX_BATCH 4096
/* Longest wait of a call, ms. */
#define QUERY_MAX_WAIT_MS (3600 * 1000)
/* Bytes of unsent output; above this limit no further call is answered. */
#define QUERY_MAX_OUTPUT (4u << 20)
/* Most bytes of a reply that is not sent in parts. */
#define QUERY_MAX_REPLY (16u << 20)

/* Counters of the service, beside the tracker's. */
typedef struct QueryStats {
        uint64_t answers[_ANSWER_STATUS_MAX];
        unsigned n_clients;
        /* Feeders with a slot, feeders that wait for one, and the number of slots. */
        unsigned n_feeders, n_waiting_feeders, max_feeders;
        /* Sums of feeders' reports, including disconnected ones. */
        uint64_t decode_errors;
        uint64_t unknown_events;
        uint64_t later_events;
        /* The journal, if one is configured. */
        bool has_journal;
        bool journal_is_failed; /* new events would be lost with the daemon */
        uint64_t journal_bytes;
        /* Requests for another rundown, if the daemon sends them. */
        bool has_again;
        uint64_t again_listed, again_not_held, again_failed;
} QueryStats;

/* The memory of all connections together: calls, and unsent replies. */
typedef struct QueryMemory {
        size_t n_bytes;
        size_t limit; /* above this limit no call is answered; 0: none */
} QueryMemory;

typedef struct QueryContext {
        const Tracker *tracker;
        Viewer viewer;       /* the asking user */
        bool is_live;        /* a daemon: "now" is CLOCK_MONOTONIC; else the end of the trace */
        bool is_final;       /* answer now, even if the caller asked to wait */
        int64_t turn_end;    /* us of g_get_monotonic_time(): after it QUERY_AGAIN; 0: never */
        QueryStats *stats;   /* or NULL */
        QueryMemory *memory; /* or NULL */
} QueryContext;

/* Selects the processes of a call: all, those with a pid, or the one with a pid in a namespace. */
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
        QUERY_WATCH, /* from now on send the events of FILTER's processes */
        QUERY_BULK,  /* the reply is the last of its kind: binary frames follow */
} QueryNext;

typedef struct Resolve Resolve;

/*
 * The condition of a waiting call: everything of a process has come up to a time, or, if the
 * process is not known, another process becomes known.
 */
typedef struct QueryWait {
        ProcessKey key;
        uint32_t uid;
        uint64_t serial;    /* of the process; 0: it is not known */
        uint64_t time;      /* ns */
        uint64_t n_changes; /* of the tracker's processes so far */
} QueryWait;

/* The time of a question that comes now, ns; 0: of a trace, which has ended. */
uint64_t query_now(const QueryContext *context);

/* For a question about PROCESS, which may be NULL, at TIME. */
QueryWait query_wait_begin(const Tracker *tracker, const Process *process, uint64_t time);
/* True if the answer may have changed. */
bool query_wait_is_over(const QueryWait *wait, const Tracker *tracker);

/* The state of one call; zero at first. */
typedef struct QueryProgress {
        json_t *call;     /* owned or NULL: the needed parts of a continued call, parsed */
        size_t n_text;    /* bytes of its text */
        GString *reply;   /* owned or NULL: the part being made */
        Resolve *resolve; /* owned or NULL: the questions and the answers so far */
        unsigned wait_ms;
        QueryWait wait; /* with QUERY_WAIT */
        ProcessFilter filter;
        /* The place where a list continues. */
        bool is_begun;
        unsigned n_rows; /* in the part being made */
        void *sums;      /* owned or NULL: of the bodies of the process's modules, so far */
        guint n_modules; /* modules in the sums */
        uint32_t n_seen; /* numbers of bodies counted in the sums */
        uint64_t serial; /* of the process of the next row */
        uint32_t number; /* of the body or module */
        uint64_t time;
        unsigned bulk_version; /* with QUERY_BULK: the requested version */
} QueryProgress;

/*
 * Appends the reply to OUT; an error is a reply, too. A call with "oneway" has no reply. A
 * continued call does not need CALL.
 */
/* Except after DONE, BULK and WATCH, the progress owns data. */
QueryNext query_call(const QueryContext *context, const char *call, size_t n_call,
                     QueryProgress *progress, GString *out);

/* Ends a call; the progress is zero then. */
void query_progress_clear(QueryProgress *progress);
/* Bytes in memory, about. */
size_t query_progress_size(const QueryProgress *progress);

/* Appends {"error":ERROR,"parameters":{KEY:VALUE}}; KEY may be NULL. */
void query_append_error(GString *out, const char *error, const char *key, const char *value);
