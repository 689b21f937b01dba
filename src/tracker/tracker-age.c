/* SPDX-License-Identifier: MIT */

/* Processes that ended long ago */

#include "tracker/tracker-struct.h"

/* The host knows no processes of another machine or boot. */
static bool process_is_of_host(const Process *process)
{
        guint i;

        for (i = 0; i < process->traces->len; i++)
                if (!*((const Trace *)process->traces->pdata[i])->boot_id)
                        return false;
        return true;
}

static bool host_is_running(const Tracker *tracker, const Process *process)
{
        return tracker->host.is_running &&
               tracker->host.is_running(tracker->host.data, &process->key);
}

static bool process_is_over(const Tracker *tracker, const Process *process)
{
        return process->exit != BODY_FOREVER ||
               (process_is_of_host(process) && tracker->host.is_running &&
                !host_is_running(tracker, process));
}

/* True if feeders have closed all streams that can have events of the process. */
static bool process_is_recorded(const Process *process)
{
        return process->traces->len > 0 && !process_has_open_trace(process);
}

ProcessLife tracker_process_life(const Tracker *tracker, const Process *process)
{
        if (process->exit != BODY_FOREVER)
                return PROCESS_EXITED;
        if (!process_is_recorded(process) ||
            (process_is_of_host(process) && host_is_running(tracker, process)))
                return PROCESS_RUNNING;
        return PROCESS_RECORDED;
}

void tracker_age(Tracker *tracker, unsigned max_age)
{
        guint i;

        for (i = tracker->processes->len; i-- > 0;) {
                Process *process = tracker->processes->pdata[i];

                process->age =
                        process->last == process->aged_last && process_is_over(tracker, process)
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

guint tracker_process_index(const Tracker *tracker, uint64_t serial)
{
        guint low = 0, high = tracker->processes->len;

        while (low < high) {
                guint middle = low + (high - low) / 2;

                if (((const Process *)tracker->processes->pdata[middle])->serial < serial)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

/* NULL if no process has the serial. */
static Process *tracker_find_serial(const Tracker *tracker, uint64_t serial)
{
        guint i = tracker_process_index(tracker, serial);
        Process *process = i < tracker->processes->len ? tracker->processes->pdata[i] : NULL;

        return process && process->serial == serial ? process : NULL;
}

void tracker_forget(Tracker *tracker, uint64_t serial)
{
        Process *process = tracker_find_serial(tracker, serial);

        if (process)
                budget_drop(&tracker->budget, process);
}

bool tracker_end_process(Tracker *tracker, uint64_t serial, uint64_t time)
{
        Process *process = tracker_find_serial(tracker, serial);

        if (!process || process->exit != BODY_FOREVER)
                return false;
        process_end(process, MAX(time, process->last));
        tracker_report_epoch(tracker, process);
        return true;
}

bool tracker_set_command(Tracker *tracker, uint64_t serial, const char *command)
{
        Process *process = tracker_find_serial(tracker, serial);

        if (!process || (process->was_found && process->command))
                return false;
        process->was_found = true;
        if (!process->command)
                process->command = g_strndup(command, PROCESS_MAX_TEXT);
        process_book_texts(process);
        return true;
}
