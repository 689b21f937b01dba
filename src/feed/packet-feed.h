/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Packet feed: decodes the packets of streams, live and from disk, into the outlet
 *
 * Whatever a packet has costs no more than that packet of that stream: what cannot be read of it is
 * a gap, and the stream goes on with the next one.
 */

#include "feed/outlet.h"
#include "feed/trace-metadata.h"

typedef struct PacketFeed {
        Outlet *outlet; /* borrowed */
        EventUse use;
        GHashTable *counts; /* owned: see event_counts_new() */
        DecodeScratch scratch;
        uint64_t n_events;  /* of any kind */
        uint64_t n_refused; /* records that the daemon would not take */
        uint64_t n_damaged; /* packets */
        bool has_reported_process;
} PacketFeed;

void packet_feed_init(PacketFeed *feed, Outlet *outlet, EventUse use);
void packet_feed_deinit(PacketFeed *feed);
/* The daemon is gone: what was counted for it no longer counts. */
void packet_feed_forget_daemon(PacketFeed *feed);
/* Hands the counters to the outlet. */
void packet_feed_report(const PacketFeed *feed);

/* A packet in memory, and where an index has it. */
typedef struct FeedPacket {
        const TraceMetadata *metadata; /* borrowed */
        const uint8_t *bytes;          /* borrowed until all of it is taken */
        size_t n;
        uint64_t begin, end; /* times on the stream's clock, in ns */
} FeedPacket;

/*
 * Hands the packet over to the reader of STREAM, which has an identity, and goes to its first item.
 * False: nothing of it can be read; that is a gap already.
 */
bool packet_feed_begin(PacketFeed *feed, OutletSource source, FeedStream *stream,
                       const FeedPacket *packet);
/*
 * Takes the item that the reader of STREAM is at, and goes to the next. False: that was the last
 * one of the packet.
 */
bool packet_feed_take(PacketFeed *feed, OutletSource source, FeedStream *stream);
/* Notes a packet that was fed before, so that what is lost after it is counted. */
void packet_feed_pass(PacketFeed *feed, FeedStream *stream, const FeedPacket *packet);
/* The whole packet is lost: REASON is printed. */
void packet_feed_lose(PacketFeed *feed, OutletSource source, FeedStream *stream, uint64_t begin,
                      uint64_t end, const char *reason);
