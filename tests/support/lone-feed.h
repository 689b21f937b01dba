/* SPDX-License-Identifier: MIT */
#pragma once

/* A packet feed without a daemon: its records go nowhere. */

#include "feed/packet-feed.h"

typedef struct LoneFeed {
        StreamTable table;
        Outlet *outlet; /* owned */
        PacketFeed feed;
        TraceMetadata *metadata; /* owned; NULL: unreadable */
} LoneFeed;

static inline void lone_feed_on_lost(void *data, const char *reason)
{
}

static inline void lone_feed_on_known(void *data)
{
}

/* TEXT: N bytes of whole declarations. */
static inline void lone_feed_init(LoneFeed *lone, const uint8_t *text, size_t n)
{
        static const OutletCalls CALLS = {lone_feed_on_lost, lone_feed_on_known};

        stream_table_init(&lone->table);
        lone->outlet = outlet_new(&lone->table, &CALLS, lone);
        packet_feed_init(&lone->feed, lone->outlet, EVENT_USE_ALL);
        lone->metadata =
                n ? trace_metadata_new(text, n, lone->feed.use, lone->feed.counts, NULL) : NULL;
}

static inline void lone_feed_deinit(LoneFeed *lone)
{
        trace_metadata_unref(lone->metadata);
        packet_feed_deinit(&lone->feed);
        outlet_free(lone->outlet);
        stream_table_deinit(&lone->table);
}
