/* SPDX-License-Identifier: MIT */

/*
 * Processes that are over for long
 */

#include "core/tracker-struct.h"

static bool is_over(const Tracker *tracker, const Process *process)
{
        guint i;

        if (process->exit != BODY_FOREVER)
                return true;
        /* Of another machine or boot, nobody here knows. */
        for (i = 0; i < process->traces->len; i++)
                if (!*((const Trace *)process->traces->pdata[i])->boot_id)
                        return false;
        return tracker->host.is_running &&
               !tracker->host.is_running(tracker->host.data, &process->key);
}

void tracker_age(Tracker *tracker, unsigned max_age)
{
        guint i;

        for (i = tracker->processes->len; i-- > 0;) {
                Process *process = tracker->processes->pdata[i];

                process->age = process->last == process->aged_last && is_over(tracker, process)
                                       ? process->age + 1
                                       : 0;
                process->aged_last = process->last;
                if (process->age <= max_age)
                        continue;
                if (tracker->forgotten)
                        g_array_append_val(tracker->forgotten, process->serial);
                budget_drop(&tracker->budget, process);
        }
}

void tracker_log_forgotten(Tracker *tracker, GArray *serials)
{
        tracker->forgotten = serials;
}

void tracker_forget(Tracker *tracker, uint64_t serial)
{
        guint i;

        for (i = 0; i < tracker->processes->len; i++) {
                Process *process = tracker->processes->pdata[i];

                if (process->serial != serial)
                        continue;
                budget_drop(&tracker->budget, process);
                return;
        }
}
