/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Query: one Varlink call in, one reply out
 *
 * The same code answers on the daemon's query socket and inside `clrsym --trace`. A call and a
 * reply are one JSON object each; the NUL that frames them on the socket is the caller's.
 */

#include "core/tracker.h"

/* Most queries in one Resolve. */
#define QUERY_MAX_BATCH 4096

typedef struct QueryContext {
        const Tracker *tracker;
        bool is_live;  /* a daemon: "now" is CLOCK_MONOTONIC; else the end of the trace */
        bool is_final; /* answer now, even where the caller asked to wait */
        /* Who asks. A user sees the processes of that uid; root and the privileged all. */
        uint32_t uid;
        bool sees_all;
} QueryContext;

/*
 * Appends the reply to OUT (an error is a reply too). Returns 0; or, with OUT as it was, for how
 * many ms the caller is ready to wait for an answer that is not in yet: ask again when records or
 * progress have come, and with is_final once that time is over.
 */
unsigned query_call(const QueryContext *context, const char *call, size_t n_call, GString *out);
