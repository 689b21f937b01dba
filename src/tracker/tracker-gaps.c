/* SPDX-License-Identifier: MIT */

/*
 * Process gaps reported by the holder
 *
 * If a report comes before the first event of its process, it is pending until that event.
 */

#include "tracker/rundown.h"
#include "tracker/tracker-struct.h"

/* A guess: more than the attachments that can happen while an event is on its way. */
#define MAX_PENDING 256

static bool process_gap_is_open(const ProcessGap *gap)
{
        return gap->end == UINT64_MAX;
}

/* Streams do not always record the namespace. */
static bool process_gap_matches(const ProcessGap *gap, const ProcessKey *key)
{
        return gap->process.pid == key->pid && (gap->process.pid_ns == key->pid_ns || !key->pid_ns);
}

/* A gap and its report never concern another user's process. */
static bool process_may_be_of(const Process *process, uint32_t uid)
{
        return uid == PROCESS_OF_NOBODY || process->uid == PROCESS_OF_NOBODY || process->uid == uid;
}

/* True if the report only ends another gap, and no such gap is pending. */
static bool process_gap_is_idle(const Tracker *tracker, const ProcessGap *gap)
{
        guint i;

        for (i = 0; i < tracker->pending_gaps->len; i++)
                if (process_key_equal(
                            &g_array_index(tracker->pending_gaps, PendingGap, i).gap.process,
                            &gap->process))
                        return false;
        return gap->begin == gap->end;
}

void tracker_add_pending_gap(Tracker *tracker, const PendingGap *pending)
{
        if (process_gap_is_idle(tracker, &pending->gap))
                return;
        if (tracker->pending_gaps->len >= MAX_PENDING)
                g_array_remove_index(tracker->pending_gaps, 0);
        g_array_append_val(tracker->pending_gaps, *pending);
}

void tracker_apply_pending_gaps(Tracker *tracker, Process *process)
{
        guint i = 0;

        while (i < tracker->pending_gaps->len) {
                const PendingGap pending = g_array_index(tracker->pending_gaps, PendingGap, i);

                if (!process_gap_matches(&pending.gap, &process->key) ||
                    !process_may_be_of(process, pending.uid)) {
                        i++;
                        continue;
                }
                g_array_remove_index(tracker->pending_gaps, i);
                rundown_report_gap(process, pending.gap.begin, pending.gap.end);
        }
}

/* True if the gap concerns this generation, which had the pid until UNTIL. */
static bool process_gap_concerns(const ProcessGap *gap, const Process *process, uint64_t until)
{
        bool is_first = process->generation == 1;

        if (process_gap_is_open(gap))
                return gap->begin < until && (gap->begin >= process->begin || is_first);
        /* Any report with an end ends an open gap. */
        if (gap->begin == gap->end || process->gaps.open_since <= gap->end)
                return true;
        return gap->begin < until && (gap->end > process->begin || is_first);
}

static void identity_report_gap(const Identity *identity, const ProcessGap *gap)
{
        uint64_t until = BODY_FOREVER;
        guint i;

        for (i = identity->generations->len; i-- > 0;) {
                Process *process = identity->generations->pdata[i];

                if (process_gap_concerns(gap, process, until))
                        rundown_report_gap(process, gap->begin, gap->end);
                if (gap->begin == gap->end && gap->end < until)
                        rundown_report_session(process, gap->end);
                until = process->begin;
                if (process->generation == 1)
                        break;
        }
}

/* Reports the gap of the processes with KEY that may be of UID. False if no process is known. */
static bool tracker_report_gap(Tracker *tracker, const ProcessGap *gap, const ProcessKey *key,
                               uint32_t uid)
{
        const GPtrArray *all = identities_of_pid(&tracker->identities, key->pid);
        bool is_known = false;
        guint i;

        for (i = 0; all && i < all->len; i++) {
                const Identity *identity = all->pdata[i];

                if (!identity->newest || !process_key_equal(&identity->id.key, key) ||
                    !process_may_be_of(identity->newest, uid))
                        continue;
                identity_report_gap(identity, gap);
                is_known = true;
        }
        return is_known;
}

void tracker_apply_process_gap(Tracker *tracker, const ProcessGap *gap)
{
        PendingGap pending = {.gap = *gap, .uid = PROCESS_OF_NOBODY};

        tracker->stats.gaps += gap->begin < gap->end;
        /* A program started after the gap's begin is not the gap's process. */
        if (tracker->host.uid)
                tracker->host.uid(tracker->host.data, &gap->process, gap->begin, &pending.uid);
        if (!tracker_report_gap(tracker, gap, &gap->process, pending.uid) &&
            !tracker_report_gap(tracker, gap, &(ProcessKey){0, gap->process.pid}, pending.uid))
                tracker_add_pending_gap(tracker, &pending);
}
