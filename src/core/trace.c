/* SPDX-License-Identifier: MIT */
#include "core/trace.h"

#include <string.h>

Trace *trace_new(const IngestStream *identity)
{
        Trace *trace = g_new0(Trace, 1);

        memcpy(trace->uuid, identity->trace_uuid, sizeof(trace->uuid));
        trace->scheme = identity->scheme;
        trace->uid = identity->uid;
        trace->hostname = g_strdup(identity->hostname->str);
        trace->boot_id = g_strdup(identity->boot_id->str);
        trace->clock_offset = identity->clock_offset;
        trace->streams = g_ptr_array_new_with_free_func(g_free);
        trace->gaps = g_array_new(FALSE, FALSE, sizeof(Gap));
        return trace;
}

void trace_free(Trace *trace)
{
        if (!trace)
                return;
        g_free(trace->hostname);
        g_free(trace->boot_id);
        g_ptr_array_unref(trace->streams);
        g_array_unref(trace->gaps);
        g_free(trace);
}

TrackerStream *trace_stream(Trace *trace, uint64_t class_id, uint64_t stream_id)
{
        TrackerStream *stream;
        guint i;

        for (i = 0; i < trace->streams->len; i++) {
                stream = trace->streams->pdata[i];
                if (stream->class_id == class_id && stream->stream_id == stream_id)
                        return stream;
        }
        stream = g_new0(TrackerStream, 1);
        stream->trace = trace;
        stream->class_id = class_id;
        stream->stream_id = stream_id;
        g_ptr_array_add(trace->streams, stream);
        return stream;
}

void trace_add_gap(Trace *trace, uint64_t begin, uint64_t end)
{
        gaps_add(trace->gaps, begin, end);
}

bool trace_has_gap(const Trace *trace, uint64_t begin, uint64_t end)
{
        return gaps_touch(trace->gaps, begin, end);
}

uint64_t trace_gap_time(const Trace *trace)
{
        uint64_t sum = 0;
        guint i;

        for (i = 0; i < trace->gaps->len; i++) {
                const Gap *gap = &g_array_index(trace->gaps, Gap, i);

                /* Where the tracer does not say when, there is nothing to add up. */
                if (gap->begin && gap->end != UINT64_MAX)
                        sum += gap->end - gap->begin;
        }
        return sum;
}

bool trace_is_unfed(const Trace *trace)
{
        guint i;

        for (i = 0; i < trace->streams->len; i++)
                if (((const TrackerStream *)trace->streams->pdata[i])->n_feeders)
                        return false;
        return true;
}

bool trace_goes_on(const Trace *trace)
{
        guint i;

        for (i = 0; i < trace->streams->len; i++) {
                const TrackerStream *stream = trace->streams->pdata[i];

                if (!stream->has_ended &&
                    (stream->is_resumed || (!stream->n_feeders && !stream->is_quiet)))
                        return false;
        }
        return true;
}

uint64_t trace_horizon(const Trace *trace, bool *ret_has_ended)
{
        uint64_t open = UINT64_MAX, ended = 0;
        guint i;

        for (i = 0; i < trace->streams->len; i++) {
                const TrackerStream *stream = trace->streams->pdata[i];

                if (stream->has_ended)
                        ended = MAX(ended, stream->progress);
                else
                        open = MIN(open, stream->progress);
        }
        *ret_has_ended = open == UINT64_MAX;
        return *ret_has_ended ? ended : open;
}
