/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Query: one Varlink call in, its reply out
 *
 * The same code answers on the daemon's query socket and for a trace. A call and a reply are one
 * JSON object each; the NUL that frames them on the socket is the caller's.
 */

#include "core/answer.h"

/* Most queries in one Resolve. */
#define QUERY_MAX_BATCH 4096

/* What the service counts beside the tracker. */
typedef struct QueryStats {
        uint64_t answers[_ANSWER_STATUS_MAX];
        unsigned n_clients;
        unsigned n_feeders;
        /* Of what feeders reported that are gone; and of those that are there. */
        uint64_t decode_errors;
        uint64_t unknown_events;
        /* Of the journal, where there is one. */
        bool has_journal;
        bool journal_is_failed; /* what comes now would not outlive the daemon */
        uint64_t journal_bytes;
        /* Of requests that code be listed once more, where they are made. */
        bool has_again;
        uint64_t again_listed, again_not_held, again_failed;
} QueryStats;

typedef struct QueryContext {
        const Tracker *tracker;
        Viewer viewer;     /* who asks */
        bool is_live;      /* a daemon: "now" is CLOCK_MONOTONIC; else the end of the trace */
        bool is_final;     /* answer now, even where the caller asked to wait */
        QueryStats *stats; /* or NULL */
} QueryContext;

/* Which processes a call is about: all, those of a pid, or of a pid in a namespace. */
typedef struct ProcessFilter {
        bool has_pid, has_pid_ns;
        int64_t pid, pid_ns;
} ProcessFilter;

bool process_filter_matches(const ProcessFilter *filter, const Viewer *viewer,
                            const Process *process);

/* What is to be done after query_call(). */
typedef enum QueryNext {
        QUERY_DONE,
        /* Nothing was appended. Call again when records or progress have come, and with is_final
         * once WAIT_MS are over. */
        QUERY_WAIT,
        QUERY_MORE,  /* a part of the reply was appended: call again for the next one */
        QUERY_WATCH, /* from now on news of FILTER are to be sent, with "continues" */
        QUERY_BULK,  /* the reply is the last of its kind: binary frames follow */
} QueryNext;

/* Of one call; zero before it is called first. */
typedef struct QueryProgress {
        unsigned wait_ms;
        ProcessFilter filter;
        /* Where a list goes on: in that process, or behind where it was. */
        bool is_begun;
        uint64_t serial; /* of the process */
        uint32_t number; /* of the body or module */
        uint64_t time;
        unsigned bulk_version; /* with QUERY_BULK: which one was asked for */
} QueryProgress;

/* Appends the reply to OUT; an error is a reply too. A call that wants none ("oneway") has none. */
QueryNext query_call(const QueryContext *context, const char *call, size_t n_call,
                     QueryProgress *progress, GString *out);

/* Appends {"error":ERROR,"parameters":{KEY:VALUE}}; KEY may be NULL. */
void query_append_error(GString *out, const char *error, const char *key, const char *value);
