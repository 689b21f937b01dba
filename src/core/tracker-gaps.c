/* SPDX-License-Identifier: MIT */

/*
 * What feeders tell of the silence of processes
 *
 * They may know before the first event of the process has come: then it waits for that.
 */

#include "core/rundown.h"
#include "core/tracker-struct.h"

/* A guess: more than can be attached to in the time in which an event is on its way. */
#define MAX_EARLY 256

static bool is_open(const IngestProcessGap *gap)
{
        return gap->end == UINT64_MAX;
}

/* Streams do not always tell the namespace. */
static bool is_of(const IngestProcessGap *gap, const ProcessKey *key)
{
        return gap->process.pid == key->pid && (gap->process.pid_ns == key->pid_ns || !key->pid_ns);
}

/* One that says no more than that another one is over, and there is none. */
static bool is_idle(const Tracker *tracker, const IngestProcessGap *gap)
{
        guint i;

        for (i = 0; i < tracker->early->len; i++)
                if (process_key_equal(&g_array_index(tracker->early, IngestProcessGap, i).process,
                                      &gap->process))
                        return false;
        return gap->begin == gap->end;
}

void tracker_add_early(Tracker *tracker, const IngestProcessGap *gap)
{
        if (is_idle(tracker, gap))
                return;
        if (tracker->early->len >= MAX_EARLY)
                g_array_remove_index(tracker->early, 0);
        g_array_append_val(tracker->early, *gap);
}

void tracker_tell_early(Tracker *tracker, Process *process)
{
        guint i = 0;

        while (i < tracker->early->len) {
                const IngestProcessGap gap = g_array_index(tracker->early, IngestProcessGap, i);

                if (!is_of(&gap, &process->key)) {
                        i++;
                        continue;
                }
                g_array_remove_index(tracker->early, i);
                rundown_tell_silence(process, gap.begin, gap.end);
        }
}

/* One of those who had the pid, until UNTIL; is it about this one? */
static bool concerns(const IngestProcessGap *gap, const Process *process, uint64_t until)
{
        bool is_first = process->generation == 1;

        if (is_open(gap))
                return gap->begin < until && (gap->begin >= process->begin || is_first);
        /* One that had been told of before ends with any. */
        if (gap->begin == gap->end || process->lapses.open <= gap->end)
                return true;
        return gap->begin < until && (gap->end > process->begin || is_first);
}

void tracker_apply_process_gap(Tracker *tracker, const IngestProcessGap *gap)
{
        ProcessKey key = gap->process;
        uint64_t until = BODY_FOREVER;
        guint i;

        tracker->stats.gaps += gap->begin < gap->end;
        if (!g_hash_table_contains(tracker->newest, &key))
                key.pid_ns = 0;
        if (!g_hash_table_contains(tracker->newest, &key)) {
                tracker_add_early(tracker, gap);
                return;
        }
        for (i = tracker->processes->len; i-- > 0;) {
                Process *process = tracker->processes->pdata[i];

                if (!process_key_equal(&process->key, &key))
                        continue;
                if (concerns(gap, process, until))
                        rundown_tell_silence(process, gap->begin, gap->end);
                until = process->begin;
                if (process->generation == 1)
                        break;
        }
}
