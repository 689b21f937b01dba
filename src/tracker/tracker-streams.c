/* SPDX-License-Identifier: MIT */

/* All streams of a tracker: their feeders, their progress, their losses, and their times */

#include "tracker/tracker-struct.h"

#include <string.h>

Account *tracker_trace_account(Tracker *tracker, BufferScheme scheme, uint32_t uid)
{
        return owners_account(&tracker->owners,
                              scheme == BUFFER_SCHEME_PER_UID ? uid : PROCESS_OF_NOBODY);
}

static bool tracker_may_drop(const Tracker *tracker, const Trace *trace)
{
        return trace != tracker->last_trace && trace_is_idle(trace);
}

/*
 * Keeps the newest trace, which has the clock's offset. If too many idle traces wait for a feeder,
 * the oldest go first.
 */
void tracker_drop_traces(Tracker *tracker)
{
        GPtrArray *traces = tracker->traces;
        guint i, n = 0, n_idle = 0;

        if (traces->len < tracker->n_most_traces)
                return;
        for (i = 0; i < traces->len; i++)
                n_idle += tracker_may_drop(tracker, traces->pdata[i]) &&
                          !trace_is_over(traces->pdata[i]);
        for (i = 0; i < traces->len; i++) {
                Trace *trace = g_steal_pointer(&traces->pdata[i]);
                bool is_over = trace_is_over(trace);

                if (!tracker_may_drop(tracker, trace) ||
                    (!is_over && n_idle <= TRACKER_MAX_IDLE_TRACES)) {
                        traces->pdata[n++] = trace;
                        continue;
                }
                n_idle -= !is_over;
                tracker->has_dropped_idle |= !is_over;
                tracker->dropped_gaps += (double)trace_gap_time(trace) / 1e9;
                trace_free(trace);
        }
        g_ptr_array_set_size(traces, (gint)n);
        tracker->n_most_traces = MAX(2 * n, TRACKER_FEW_TRACES);
}

TrackerStream *tracker_stream_open(Tracker *tracker, const StreamIdentity *identity)
{
        static const uint8_t NO_UUID[16];
        bool has_uuid = memcmp(identity->trace_uuid, NO_UUID, sizeof(NO_UUID)) != 0;
        Trace *trace = NULL;
        TrackerStream *stream;
        guint i;

        for (i = 0; has_uuid && i < tracker->traces->len; i++) {
                Trace *known = tracker->traces->pdata[i];

                if (!memcmp(known->uuid, identity->trace_uuid, sizeof(known->uuid)))
                        trace = known;
        }
        if (!trace) {
                trace = trace_new(tracker_trace_account(tracker, identity->scheme, identity->uid),
                                  identity);
                trace->has_unknown_past = has_uuid && tracker->has_dropped_idle;
                g_ptr_array_add(tracker->traces, trace);
        }
        tracker->last_trace = trace;
        stream = trace_stream(trace, identity->class_id, identity->stream_id);
        stream_change(stream, STREAM_OPENED);
        return stream;
}

/* A change that affects only quiet streams. A feeder may leave thousands of streams. */
static void trace_change_quiet(Trace *trace, StreamChange change)
{
        guint i;

        for (i = 0; trace->n_quiet && i < trace->streams->len; i++)
                stream_change(trace->streams->pdata[i], change);
}

void tracker_stream_close(Tracker *tracker, TrackerStream *stream)
{
        stream_change(stream, STREAM_CLOSED);
        if (stream->state == STREAM_ENDED && trace_is_unfed(stream->trace))
                trace_change_quiet(stream->trace, STREAM_TRACE_CLOSED);
}

void tracker_stream_detach(Tracker *tracker, TrackerStream *stream)
{
        stream_change(stream, STREAM_DETACHED);
        trace_change_quiet(stream->trace, STREAM_REPORTER_LEFT);
}

uint64_t tracker_stream_watermark(const TrackerStream *stream)
{
        return stream->watermark;
}

/* Ends a gap of the stream at TIME, if the stream's progress is before that. */
static void stream_end_gap(TrackerStream *stream, uint64_t time)
{
        if (time > stream->progress)
                trace_add_gap(stream->trace, stream->progress, time - 1);
}

void stream_receive(TrackerStream *stream, uint64_t time)
{
        if (stream_change(stream, STREAM_RECEIVED))
                stream_end_gap(stream, time);
}

void tracker_apply_gap(Tracker *tracker, TrackerStream *stream, const StreamGap *gap)
{
        stream_receive(stream, gap->begin);
        if (gap->end <= stream->gap_end[gap->kind]) {
                tracker->stats.known++;
                return;
        }
        stream->gap_end[gap->kind] = gap->end;
        trace_add_gap(stream->trace, gap->begin, gap->end);
        tracker->stats.gaps++;
        if (gap->count == GAP_COUNT_UNKNOWN)
                return;
        if (gap->kind == GAP_EVENTS)
                tracker->stats.discarded_events += gap->count;
        else
                tracker->stats.discarded_packets += gap->count;
}

void tracker_apply_progress(Tracker *tracker, TrackerStream *stream, uint64_t time)
{
        stream_receive(stream, time);
        stream->progress = MAX(stream->progress, time);
}

/* A late report does no harm: the gap of a stream begins at its progress. */
static void trace_report_quiet(Trace *trace, int64_t time)
{
        int64_t raw;
        guint i;

        if (__builtin_sub_overflow(time, trace->clock_offset, &raw) || raw <= 0)
                return;
        for (i = 0; i < trace->streams->len; i++) {
                TrackerStream *stream = trace->streams->pdata[i];

                if (stream->n_feeders || stream->state == STREAM_ENDED || !stream->progress)
                        continue;
                if (stream_change(stream, STREAM_REPORTED_QUIET))
                        stream_end_gap(stream, (uint64_t)raw);
                stream->progress = MAX(stream->progress, (uint64_t)raw);
        }
}

void tracker_apply_quiet(Tracker *tracker, const GPtrArray *streams, int64_t time)
{
        const TrackerStream *stream;
        guint i;

        for (i = 0; i < streams->len; i++)
                if ((stream = streams->pdata[i]))
                        stream->trace->is_visited = false;
        for (i = 0; i < streams->len; i++) {
                stream = streams->pdata[i];
                if (!stream || stream->trace->is_visited)
                        continue;
                stream->trace->is_visited = true;
                trace_report_quiet(stream->trace, time);
        }
}

double tracker_gap_seconds(const Tracker *tracker)
{
        double seconds = tracker->dropped_gaps;
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

bool tracker_clock_offset(const Tracker *tracker, int64_t *ret_offset)
{
        if (!tracker->last_trace)
                return false;
        *ret_offset = tracker->last_trace->clock_offset;
        return true;
}

void tracker_note_range(Tracker *tracker, uint64_t first, uint64_t last)
{
        tracker->first = MIN(tracker->first, first);
        tracker->last = MAX(tracker->last, last);
}

void tracker_range(const Tracker *tracker, uint64_t *ret_first, uint64_t *ret_last)
{
        *ret_first = tracker->first;
        *ret_last = tracker->last;
}
