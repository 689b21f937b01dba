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
/* ms that a call waits at most. */
#define QUERY_MAX_WAIT_MS (3600 * 1000)
/* Bytes of output that is not sent: with more of it no further call is answered. */
#define QUERY_MAX_OUTPUT (4u << 20)
/* Bytes of a reply that is not sent in parts. */
#define QUERY_MAX_REPLY (16u << 20)

/* Counters of the service, beside the tracker's. */
typedef struct QueryStats {
        uint64_t answers[_ANSWER_STATUS_MAX];
        unsigned n_clients;
        /* Feeders with a place, those that wait for one, and how many places there are. */
        unsigned n_feeders, n_waiting_feeders, max_feeders;
        /* Reported by feeders, including those that have disconnected. */
        uint64_t decode_errors;
        uint64_t unknown_events;
        uint64_t later_events;
        /* The journal, if there is one. */
        bool has_journal;
        bool journal_is_failed; /* new events would not outlive the daemon */
        uint64_t journal_bytes;
        /* Requests for another rundown, if the daemon makes them. */
        bool has_again;
        uint64_t again_listed, again_not_held, again_failed;
} QueryStats;

/* The memory of all connections together: calls, and replies that are not sent. */
typedef struct QueryMemory {
        size_t n_bytes;
        size_t limit; /* with more than that, no call is answered; 0: none */
} QueryMemory;

typedef struct QueryContext {
        const Tracker *tracker;
        Viewer viewer;       /* who asks */
        bool is_live;        /* a daemon: "now" is CLOCK_MONOTONIC; else the end of the trace */
        bool is_final;       /* answer now, even if the caller asked to wait */
        int64_t turn_end;    /* us of g_get_monotonic_time(): QUERY_AGAIN then; 0: never */
        QueryStats *stats;   /* or NULL */
        QueryMemory *memory; /* or NULL */
} QueryContext;

/* Which processes a call is about: all, those with a pid, or the one with a pid in a namespace. */
typedef struct ProcessFilter {
        bool has_pid, has_pid_ns;
        int64_t pid, pid_ns;
} ProcessFilter;

bool process_filter_matches(const ProcessFilter *filter, const Viewer *viewer,
                            const Process *process);

/* What has to be done after query_call(). */
typedef enum QueryNext {
        QUERY_DONE,
        /*
         * Nothing was appended. Call again after records or progress were applied, and with
         * is_final after WAIT_MS.
         */
        QUERY_WAIT,
        QUERY_AGAIN, /* nothing was appended: the turn is over, call again */
        QUERY_MORE,  /* a part of the reply was appended: call again for the next one */
        QUERY_WATCH, /* from now on events of FILTER's processes have to be sent */
        QUERY_BULK,  /* the reply is the last of its kind: binary frames follow */
} QueryNext;

typedef struct Resolve Resolve;

/*
 * What a call waits for: that everything of a process has come up to a time, or, if the process is
 * not known, that another one becomes known.
 */
typedef struct QueryWait {
        ProcessKey key;
        uint32_t uid;
        uint64_t serial;    /* of the process; 0: it is not known */
        uint64_t time;      /* ns */
        uint64_t n_changes; /* of the tracker's processes so far */
} QueryWait;

/* The moment, ns, of a question that comes now; 0: of a trace, which is over. */
uint64_t query_now(const QueryContext *context);

/* For a question about PROCESS, which may be NULL, at TIME. */
QueryWait query_wait_begin(const Tracker *tracker, const Process *process, uint64_t time);
/* True if it is worth while to look at the question again. */
bool query_wait_is_over(const QueryWait *wait, const Tracker *tracker);

/* The state of one call; zero at first. */
typedef struct QueryProgress {
        json_t *call;     /* owned or NULL: what is needed of a call that goes on, parsed */
        size_t n_text;    /* bytes of its text */
        GString *reply;   /* owned or NULL: the part that is being made */
        Resolve *resolve; /* owned or NULL: the questions and the answers so far */
        unsigned wait_ms;
        QueryWait wait; /* with QUERY_WAIT */
        ProcessFilter filter;
        /* Where a list goes on. */
        bool is_begun;
        unsigned n_rows; /* in the part that is being made */
        void *sums;      /* owned or NULL: of the bodies of the process's modules, so far */
        guint n_modules; /* that the sums are of */
        uint32_t n_seen; /* numbers of bodies that are in the sums */
        uint64_t serial; /* of the process that the next row is in */
        uint32_t number; /* of the body or module */
        uint64_t time;
        unsigned bulk_version; /* with QUERY_BULK: which one was asked for */
} QueryProgress;

/*
 * Appends the reply to OUT; an error is a reply, too. A call with "oneway" has no reply. CALL is
 * not needed to go on with it.
 */
/* Whatever is returned but DONE, BULK and WATCH, the progress owns something afterwards. */
QueryNext query_call(const QueryContext *context, const char *call, size_t n_call,
                     QueryProgress *progress, GString *out);

/* Ends a call; the progress is zero then. */
void query_progress_clear(QueryProgress *progress);
/* Bytes that it takes, about. */
size_t query_progress_size(const QueryProgress *progress);

/* Appends {"error":ERROR,"parameters":{KEY:VALUE}}; KEY may be NULL. */
void query_append_error(GString *out, const char *error, const char *key, const char *value);
