/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Packet feed: decodes the packets of streams, live and from disk, into the outlet
 *
 * A damaged packet costs no other packet and no other stream: its unreadable part is a gap, and the
 * stream continues with the next packet.
 */

#include "feed/outlet.h"
#include "feed/trace-metadata.h"

typedef struct PacketFeed {
        Outlet *outlet; /* borrowed */
        EventUse use;
        GHashTable *counts; /* owned: see event_counts_new() */
        DecodeScratch scratch;
        uint64_t n_events;  /* of any kind */
        uint64_t n_refused; /* records that the daemon would refuse */
        uint64_t n_damaged; /* packets */
        bool has_reported_process;
} PacketFeed;

void packet_feed_init(PacketFeed *feed, Outlet *outlet, EventUse use);
void packet_feed_deinit(PacketFeed *feed);
/* The connection is lost: its counters begin again. */
void packet_feed_forget_daemon(PacketFeed *feed);
/* Hands the counters to the outlet. */
void packet_feed_report(const PacketFeed *feed);

/* A packet in memory, with its times in the index. */
typedef struct FeedPacket {
        const TraceMetadata *metadata; /* borrowed */
        const uint8_t *bytes;          /* borrowed until all of it is taken */
        size_t n;
        uint64_t begin, end; /* times on the stream's clock, in ns */
} FeedPacket;

/* Hands the packet over to the reader of STREAM, which has an identity, and goes to its first item.
 * False: the packet is unreadable, which is a gap already. */
bool packet_feed_begin(PacketFeed *feed, OutletSource source, FeedStream *stream,
                       const FeedPacket *packet);
/* Feeds the present item of the reader of STREAM, and goes to the next. False: that was the last
 * one of the packet. */
bool packet_feed_take(PacketFeed *feed, OutletSource source, FeedStream *stream);
/* Passes a packet that was fed before, so that losses after it are counted. */
void packet_feed_pass(PacketFeed *feed, FeedStream *stream, const FeedPacket *packet);
/* The whole packet is lost: REASON is printed. */
void packet_feed_lose(PacketFeed *feed, OutletSource source, FeedStream *stream, uint64_t begin,
                      uint64_t end, const char *reason);
