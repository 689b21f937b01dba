/* SPDX-License-Identifier: MIT */
#include "feed/packet-feed.h"

#include "ctf/error.h"
#include "util/message.h"

#include <inttypes.h>
#include <string.h>

void packet_feed_init(PacketFeed *feed, Outlet *outlet, EventUse use)
{
        *feed = (PacketFeed){.outlet = outlet, .use = use, .counts = event_counts_new()};
}

void packet_feed_deinit(PacketFeed *feed)
{
        g_clear_pointer(&feed->counts, g_hash_table_destroy);
        decode_scratch_deinit(&feed->scratch);
}

void packet_feed_forget_daemon(PacketFeed *feed)
{
        GHashTableIter iter;
        void *value;

        feed->n_events = feed->n_refused = feed->n_damaged = 0;
        g_hash_table_iter_init(&iter, feed->counts);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                EventCounts *counts = value;

                counts->n_events = 0;
                memset(counts->n_results, 0, sizeof(counts->n_results));
        }
}

void packet_feed_report(const PacketFeed *feed)
{
        FeederReport report;

        event_counts_report(feed->counts, feed->n_events, &report);
        report.decode_errors += feed->n_refused;
        outlet_put_report(feed->outlet, &report);
}

static void packet_feed_print(const FeedStream *stream, const char *reason)
{
        g_autofree char *owner = stream->identity->scheme == BUFFER_SCHEME_PER_UID
                                         ? g_strdup_printf("user %u", stream->identity->uid)
                                         : g_strdup_printf("process %d", stream->identity->pid);

        message_print("clrsym feed",
                      "the events of one packet of stream %" PRIu64 " of %s are lost: %s",
                      stream->key.stream_id, owner, reason);
}

void packet_feed_lose(PacketFeed *feed, OutletSource source, FeedStream *stream, uint64_t begin,
                      uint64_t end, const char *reason)
{
        StreamGap gap = {.kind = GAP_EVENTS, .count = GAP_COUNT_UNKNOWN};

        /* Each packet of a stream can be damaged: one line is enough. */
        if (!stream->has_printed_damage)
                packet_feed_print(stream, reason);
        stream->has_printed_damage = true;
        feed->n_damaged++;
        if (!stream->has_begun)
                outlet_begin(feed->outlet, source, stream, begin);
        stream->has_begun = true;
        gap.begin = MAX(begin, 1);
        gap.end = MAX(end, gap.begin);
        outlet_put_gap(feed->outlet, source, stream, &gap);
        outlet_put_progress(feed->outlet, source, stream, gap.end);
}

/* Goes to the next item. False: the packet has no more items. */
static bool packet_feed_next(PacketFeed *feed, OutletSource source, FeedStream *stream)
{
        CtfDataStream *data = stream->data;
        const CtfPacket packet = data->packet;
        uint64_t n_before = data->n_events, begin;
        g_autoptr(GError) error = NULL;
        bool ok = ctf_data_stream_next(data, true, &error);

        feed->n_events += data->n_events - n_before;
        if (ok)
                return data->item != CTF_ITEM_NONE;
        begin = MAX(ctf_data_stream_ns(data, packet.begin), stream->progress);
        ctf_data_stream_drop_packet(data);
        packet_feed_lose(feed, source, stream, begin,
                         packet.has_end ? ctf_data_stream_ns(data, packet.end) : begin,
                         error->message);
        return false;
}

bool packet_feed_begin(PacketFeed *feed, OutletSource source, FeedStream *stream,
                       const FeedPacket *packet)
{
        CtfLayout *layout = trace_metadata_layout(packet->metadata);
        g_autoptr(GError) error = NULL;

        if (!layout)
                g_set_error(&error, CTF_ERROR, CTF_ERROR_DAMAGED,
                            "the metadata declares no stream");
        else if (ctf_data_stream_set_packet(stream->data, layout, packet->bytes, packet->n, &error))
                return packet_feed_next(feed, source, stream);
        packet_feed_lose(feed, source, stream, packet->begin, packet->end, error->message);
        return false;
}

static void packet_feed_take_event(PacketFeed *feed, OutletSource source, FeedStream *stream)
{
        Record record;

        switch (ctf_data_stream_decode(stream->data, &feed->scratch, &record)) {
        case CTF_DECODE_RECORD:
                if (!outlet_put_record(feed->outlet, source, stream, &record))
                        feed->n_refused++;
                return;
        case CTF_DECODE_NO_PROCESS:
                if (!feed->has_reported_process)
                        message_print("clrsym feed",
                                      "the events have no process: record the session with the "
                                      "contexts vpid and pid_ns (clrsym session does)");
                feed->has_reported_process = true;
                return;
        case CTF_DECODE_SKIPPED:
        case CTF_DECODE_NO_CLOCK:
                return;
        }
}

bool packet_feed_take(PacketFeed *feed, OutletSource source, FeedStream *stream)
{
        const CtfDataStream *data = stream->data;

        switch (data->item) {
        case CTF_ITEM_EVENT:
                packet_feed_take_event(feed, source, stream);
                break;
        case CTF_ITEM_DISCARDED_EVENTS:
        case CTF_ITEM_DISCARDED_PACKETS:
                outlet_put_gap(feed->outlet, source, stream, &data->gap);
                break;
        case CTF_ITEM_PACKET_BEGIN:
                if (!stream->has_begun)
                        outlet_begin(feed->outlet, source, stream, data->time);
                stream->has_begun = true;
                break;
        case CTF_ITEM_PACKET_END:
                outlet_put_progress(feed->outlet, source, stream, data->time);
                break;
        case CTF_ITEM_END:
        case CTF_ITEM_NONE:
                return false;
        }
        return packet_feed_next(feed, source, stream);
}

void packet_feed_pass(PacketFeed *feed, FeedStream *stream, const FeedPacket *packet)
{
        CtfLayout *layout = trace_metadata_layout(packet->metadata);
        CtfDataStream *data = stream->data;

        /* The live reader is behind the catch-up: losses count from the newest packet. */
        if (stream->has_begun && data->has_previous &&
            ctf_data_stream_ns(data, data->previous.end) > packet->end)
                return;
        if (!layout || !ctf_data_stream_set_packet(data, layout, packet->bytes, packet->n, NULL))
                return;
        if (!stream->has_begun)
                outlet_put_progress(feed->outlet, OUTLET_DISK, stream, packet->begin);
        stream->has_begun = true;
        ctf_data_stream_drop_packet(data);
}
