/* SPDX-License-Identifier: MIT */
#include "query/totals.h"

/* Processes that are counted between two looks at the clock. */
#define STRIDE 64

static void totals_add(Totals *totals, const Process *process)
{
        totals->n_processes++;
        totals->n_bodies += codemap_n_bodies(process->map);
        totals->n_live += codemap_n_live(process->map);
        totals->n_silent += process->gaps.open_since != BODY_FOREVER;
        if (process->exit == BODY_FOREVER)
                totals->horizon = MIN(totals->horizon, process_horizon(process));
}

bool totals_count(Totals *totals, const QueryContext *context)
{
        const GPtrArray *processes = tracker_processes(context->tracker);
        guint first = tracker_process_index(context->tracker, totals->serial), i;

        for (i = first; i < processes->len; i++) {
                const Process *process = processes->pdata[i];

                totals->serial = process->serial;
                if (i > first && (i - first) % STRIDE == 0 && context->turn_end &&
                    g_get_monotonic_time() >= context->turn_end)
                        return false;
                if (viewer_sees(&context->viewer, process))
                        totals_add(totals, process);
        }
        return true;
}
