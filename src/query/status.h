/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Status: sums over all processes that a viewer sees, and the metrics
 */

#include "query/query.h"

typedef struct Totals {
        uint64_t n_processes, n_bodies, n_live;
        uint64_t n_silent; /* processes that are in a process gap now */
        uint64_t horizon;  /* the lowest horizon of all running processes; UINT64_MAX: none runs */
        uint64_t serial;   /* serial of the first uncounted process */
} Totals;

/* Totals of no process. */
#define TOTALS_INIT                                                                                \
        {                                                                                          \
                .horizon = UINT64_MAX                                                              \
        }

/*
 * Counts until the end of the context's turn. False: processes are left; call it again in the next
 * turn. A count in several turns is approximate.
 */
bool totals_count(Totals *totals, const QueryContext *context);

/* Appends all metrics in the text form of OpenMetrics 1.0. TOTALS: complete. */
void metrics_append(GString *out, const QueryContext *context, const Totals *totals);
