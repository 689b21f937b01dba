/* SPDX-License-Identifier: MIT */

/*
 * All streams of a tracker
 */

#include "core/tracker-struct.h"

double tracker_gap_seconds(const Tracker *tracker)
{
        double seconds = 0;
        guint i;

        for (i = 0; i < tracker->traces->len; i++)
                seconds += (double)trace_gap_time(tracker->traces->pdata[i]) / 1e9;
        return seconds;
}

void tracker_note_loss(Tracker *tracker)
{
        guint i, j;

        for (i = 0; i < tracker->traces->len; i++) {
                Trace *trace = tracker->traces->pdata[i];

                for (j = 0; j < trace->streams->len; j++) {
                        const TrackerStream *stream = trace->streams->pdata[j];

                        if (stream->progress)
                                trace_add_gap(trace, stream->progress, stream->progress);
                }
        }
}

uint32_t tracker_stream_number(const Tracker *tracker, const TrackerStream *stream)
{
        uint32_t number = 0;
        guint i, j;

        for (i = 0; i < tracker->traces->len; i++) {
                const Trace *trace = tracker->traces->pdata[i];

                if (trace != stream->trace) {
                        number += trace->streams->len;
                        continue;
                }
                for (j = 0; trace->streams->pdata[j] != stream; j++)
                        ;
                return number + j;
        }
        g_return_val_if_reached(UINT32_MAX);
}

TrackerStream *tracker_stream_by_number(const Tracker *tracker, uint32_t number)
{
        guint i;

        for (i = 0; i < tracker->traces->len; i++) {
                const Trace *trace = tracker->traces->pdata[i];

                if (number < trace->streams->len)
                        return trace->streams->pdata[number];
                number -= trace->streams->len;
        }
        return NULL;
}
