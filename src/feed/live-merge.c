/* SPDX-License-Identifier: MIT */
#include "feed/live-merge.h"

/* How long other streams, which have packets or beacons, wait for a stream without either. */
#define PATIENCE_MS 5000

/* The time of an index, in ns of the stream's clock. */
uint64_t live_stream_ns(const LiveStream *stream, uint64_t cycles)
{
        return ctf_data_stream_ns(stream->feed->data, cycles);
}

static FeedPacket live_stream_packet(const LiveStream *stream)
{
        return (FeedPacket){
                .metadata = stream->metadata,
                .bytes = stream->packet->data,
                .n = stream->packet->len,
                .begin = live_stream_ns(stream, stream->index.begin),
                .end = live_stream_ns(stream, stream->index.end),
        };
}

/* The stream is at the end of its packet. */
void live_stream_end_packet(LiveStream *stream)
{
        int64_t order;

        if (stream->feed && stream->feed->identity) {
                order = stream_order(stream->feed, live_stream_ns(stream, stream->index.end));
                if (order < INT64_MAX)
                        stream->known = MAX(stream->known, order);
        }
        stream->has_items = false;
        g_clear_pointer(&stream->metadata, trace_metadata_unref);
        g_byte_array_set_size(stream->packet, 0);
        stream->state = LIVE_STREAM_IDLE;
        live_pace_go_on(&stream->pace);
}

/* True if the watermarks of all streams are known, and no stream is held. */
static bool live_may_merge(const LiveMerge *merge)
{
        guint i;

        if (!outlet_is_ready(merge->feed->outlet))
                return false;
        for (i = 0; i < merge->streams->len; i++)
                if (((const LiveStream *)merge->streams->pdata[i])->held)
                        return false;
        return true;
}

/* Begins the stream's packet, unless all of it was fed from disk. */
static void live_stream_begin(LiveMerge *merge, LiveStream *stream)
{
        const FeedPacket packet = live_stream_packet(stream);
        FeedStream *feed = stream->feed;

        /* The stream was closed while it was held. */
        if (feed->state == STREAM_WHOLE && outlet_open(merge->feed->outlet, feed))
                feed->ended = 0;
        feed->state = STREAM_LIVE;
        if (feed->has_begun && packet.end <= stream_position(feed)) {
                packet_feed_pass(merge->feed, feed, &packet);
                live_stream_end_packet(stream);
                return;
        }
        stream->has_items = packet_feed_begin(merge->feed, OUTLET_LIVE, feed, &packet);
        if (!stream->has_items)
                live_stream_end_packet(stream);
}

static gint64 live_last_sign(const LiveMerge *merge)
{
        gint64 last = 0;
        guint i;

        for (i = 0; i < merge->streams->len; i++)
                last = MAX(last, ((const LiveStream *)merge->streams->pdata[i])->last_sign);
        return last;
}

/*
 * The stream with the earliest item. RET_LIMIT: its items up to this time can be taken, because the
 * other streams have come to it. RET_NOW: no stream gets older items. NULL: nothing can be taken.
 */
static LiveStream *live_earliest(LiveMerge *merge, int64_t *ret_limit, int64_t *ret_now)
{
        const gint64 patience = live_last_sign(merge) - PATIENCE_MS * 1000;
        LiveStream *earliest = NULL;
        int64_t limit = INT64_MAX, first = INT64_MAX;
        guint i;

        for (i = 0; i < merge->streams->len; i++) {
                LiveStream *stream = merge->streams->pdata[i];
                int64_t order;

                if (stream->state == LIVE_STREAM_OVER)
                        continue;
                if (stream->has_items) {
                        order = stream->feed->data->order;
                        if (order < first) {
                                if (earliest)
                                        limit = MIN(limit, first);
                                first = order;
                                earliest = stream;
                        } else {
                                limit = MIN(limit, order);
                        }
                        continue;
                }
                if (stream->feed)
                        stream->feed->is_late = stream->last_sign < patience;
                if (stream->last_sign >= patience)
                        limit = MIN(limit, stream->known);
        }
        *ret_limit = limit;
        *ret_now = MIN(limit, first);
        return earliest && first <= limit ? earliest : NULL;
}

/* A stream of the trace has ended. A session has as many traces as processes, if each process has
 * buffers. */
static void live_trace_close_stream(LiveTrace *trace)
{
        if (--trace->n_streams > 0)
                return;
        trace->is_over = true;
        trace->wants_metadata = false;
        g_clear_pointer(&trace->text, g_byte_array_unref);
        g_clear_pointer(&trace->metadata, trace_metadata_unref);
}

static void live_close_streams(LiveMerge *merge)
{
        guint i;

        for (i = 0; i < merge->streams->len;) {
                LiveStream *stream = merge->streams->pdata[i];

                if (stream->state != LIVE_STREAM_OVER) {
                        i++;
                        continue;
                }
                if (stream->feed && stream->feed->state == STREAM_LIVE)
                        outlet_close(merge->feed->outlet, stream->feed);
                live_trace_close_stream(stream->trace);
                g_ptr_array_remove_index(merge->streams, i);
        }
}

/* Feeds all items that can be fed by now. */
void live_merge(LiveMerge *merge)
{
        LiveStream *stream;
        int64_t limit, now = INT64_MIN;
        guint i;

        if (!live_may_merge(merge))
                return;
        for (i = 0; i < merge->streams->len; i++) {
                stream = merge->streams->pdata[i];
                if (stream->state == LIVE_STREAM_PACKET && !stream->has_items)
                        live_stream_begin(merge, stream);
        }
        while (outlet_may_put(merge->feed->outlet) &&
               (stream = live_earliest(merge, &limit, &now))) {
                do
                        stream->has_items =
                                packet_feed_take(merge->feed, OUTLET_LIVE, stream->feed);
                while (stream->has_items && stream->feed->data->order <= limit);
                if (!stream->has_items)
                        live_stream_end_packet(stream);
        }
        live_earliest(merge, &limit, &now);
        if (now > INT64_MIN && now < INT64_MAX) {
                merge->now = MAX(merge->now, now);
                packet_feed_report(merge->feed);
                outlet_settle_live(merge->feed->outlet, now, merge->number);
        }
        live_close_streams(merge);
}
