/* SPDX-License-Identifier: MIT */
#include "tracker/trace.h"

#include <string.h>

/* Owners kept in a trace. Each process usually has a trace of its own. */
#define MAX_OWNERS 1024

/* Bytes, with its tables and the usual texts. */
#define TRACE_SIZE (sizeof(Trace) + 320)
/* Bytes, with its place in the trace's array. */
#define STREAM_SIZE (sizeof(TrackerStream) + 2 * sizeof(void *))
/* Bytes, with the entry in the table. */
#define OWNER_SIZE (sizeof(OwnedKey) + 48)

Trace *trace_restore(Account *account, const Trace *head)
{
        Trace *trace = g_memdup2(head, sizeof(*head));

        trace->account = account;
        trace->streams = g_ptr_array_new_with_free_func(g_free);
        trace->gaps = g_array_new(FALSE, FALSE, sizeof(Gap));
        account_add(account, TRACE_SIZE);
        return trace;
}

Trace *trace_new(Account *account, const StreamIdentity *identity)
{
        Trace head = {.scheme = identity->scheme,
                      .uid = identity->uid,
                      .pid = identity->pid,
                      .hostname = g_strdup(identity->hostname->str),
                      .boot_id = g_strdup(identity->boot_id->str),
                      .clock_offset = identity->clock_offset};

        memcpy(head.uuid, identity->trace_uuid, sizeof(head.uuid));
        return trace_restore(account, &head);
}

static void trace_forget_owners(Trace *trace)
{
        guint i = trace->owners ? g_hash_table_size(trace->owners) : 0;

        while (i-- > 0)
                account_remove(trace->account, OWNER_SIZE);
        if (trace->owners)
                g_hash_table_remove_all(trace->owners);
}

void trace_free(Trace *trace)
{
        guint i;

        if (!trace)
                return;
        for (i = 0; i < trace->streams->len; i++)
                account_remove(trace->account, STREAM_SIZE);
        account_remove(trace->account, trace->gaps->len * sizeof(Gap));
        account_remove(trace->account, TRACE_SIZE);
        trace_forget_owners(trace);
        g_clear_pointer(&trace->owners, g_hash_table_unref);
        g_free(trace->hostname);
        g_free(trace->boot_id);
        g_ptr_array_unref(trace->streams);
        g_array_unref(trace->gaps);
        g_free(trace);
}

void trace_restore_stream(Trace *trace, TrackerStream *stream)
{
        stream->trace = trace;
        g_ptr_array_add(trace->streams, stream);
        trace->n_quiet += stream->state == STREAM_QUIET;
        account_add(trace->account, STREAM_SIZE);
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
        stream->class_id = class_id;
        stream->stream_id = stream_id;
        trace_restore_stream(trace, stream);
        return stream;
}

static void stream_enter(TrackerStream *stream, StreamState state)
{
        stream->trace->n_quiet -= stream->state == STREAM_QUIET;
        stream->trace->n_quiet += state == STREAM_QUIET;
        stream->state = state;
}

bool stream_change(TrackerStream *stream, StreamChange change)
{
        StreamState before = stream->state;

        switch (change) {
        case STREAM_OPENED:
                stream->n_feeders++;
                if (before == STREAM_UNFED && (stream->progress || stream->trace->has_unknown_past))
                        stream_enter(stream, STREAM_RESUMED);
                else if (before != STREAM_RESUMED)
                        stream_enter(stream, STREAM_FED);
                return false;
        case STREAM_CLOSED:
                if (stream->n_feeders && !--stream->n_feeders)
                        stream_enter(stream, STREAM_ENDED);
                return false;
        case STREAM_DETACHED:
                if (stream->n_feeders && !--stream->n_feeders)
                        stream_enter(stream, STREAM_UNFED);
                return false;
        case STREAM_RECEIVED:
                if (before == STREAM_RESUMED)
                        stream_enter(stream, STREAM_FED);
                return before == STREAM_RESUMED;
        case STREAM_REPORTED_QUIET:
                if (before == STREAM_UNFED)
                        stream_enter(stream, STREAM_QUIET);
                return before == STREAM_UNFED;
        case STREAM_REPORTER_LEFT:
                if (before == STREAM_QUIET)
                        stream_enter(stream, STREAM_UNFED);
                return false;
        case STREAM_TRACE_CLOSED:
                if (before == STREAM_QUIET)
                        stream_enter(stream, STREAM_ENDED);
                return false;
        }
        g_assert_not_reached();
}

void trace_add_owner(Trace *trace, const OwnedKey *owned)
{
        if (!trace->owners)
                trace->owners =
                        g_hash_table_new_full(process_key_hash, process_key_equal, g_free, NULL);
        if (g_hash_table_size(trace->owners) >= MAX_OWNERS)
                trace_forget_owners(trace);
        if (g_hash_table_add(trace->owners, g_memdup2(owned, sizeof(*owned))))
                account_add(trace->account, OWNER_SIZE);
}

const OwnedKey *trace_owner(const Trace *trace, const ProcessKey *key)
{
        return trace->owners ? g_hash_table_lookup(trace->owners, key) : NULL;
}

void trace_add_gap(Trace *trace, uint64_t begin, uint64_t end)
{
        size_t before = trace->gaps->len * sizeof(Gap);

        gaps_add(trace->gaps, begin, end);
        gaps_limit(trace->gaps, TRACE_MAX_GAPS);
        account_change(trace->account, before, trace->gaps->len * sizeof(Gap));
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

                /* The tracer does not always record the times. */
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

bool trace_is_idle(const Trace *trace)
{
        return !trace->n_processes && trace_is_unfed(trace);
}

bool trace_is_over(const Trace *trace)
{
        guint i;

        for (i = 0; i < trace->streams->len; i++)
                if (((const TrackerStream *)trace->streams->pdata[i])->state != STREAM_ENDED)
                        return false;
        return trace_is_idle(trace);
}

bool trace_goes_on(const Trace *trace)
{
        guint i;

        for (i = 0; i < trace->streams->len; i++) {
                const TrackerStream *stream = trace->streams->pdata[i];

                if (stream->state == STREAM_UNFED || stream->state == STREAM_RESUMED)
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

                if (stream->state == STREAM_ENDED)
                        ended = MAX(ended, stream->progress);
                else
                        open = MIN(open, stream->progress);
        }
        *ret_has_ended = open == UINT64_MAX;
        return *ret_has_ended ? ended : open;
}
