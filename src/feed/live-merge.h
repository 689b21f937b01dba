/* SPDX-License-Identifier: MIT */
#pragma once

/* Live merge: the streams of a live reader, merged by time */

#include "feed/live-pace.h"
#include "feed/packet-feed.h"
#include "feed/viewer-wire.h"

/* A CTF trace: one metadata stream, and data streams. */
typedef struct LiveTrace {
        uint64_t id;
        uint64_t metadata_stream;
        bool has_metadata_stream;
        bool wants_metadata; /* the relay daemon has more of it */
        bool is_asked;
        bool is_over;            /* it had streams, and all of them have ended */
        unsigned n_streams;      /* data streams */
        GByteArray *text;        /* owned: all of the metadata so far; NULL: it has ended */
        size_t n_parsed;         /* bytes of TEXT that METADATA covers */
        TraceMetadata *metadata; /* owned; NULL: none yet */
        char *trouble;           /* owned: why the metadata cannot be read; NULL: it can */
} LiveTrace;

/*
 *    IDLE --timer--> ASKED --index--> NEEDED --packet--> PACKET ---> IDLE
 *                      |
 *                      +---> OVER
 */
typedef enum LiveStreamState {
        LIVE_STREAM_IDLE,
        LIVE_STREAM_ASKED,  /* for its next index */
        LIVE_STREAM_NEEDED, /* its packet must be requested, perhaps after metadata */
        LIVE_STREAM_GETTING,
        LIVE_STREAM_PACKET, /* its packet is here, and is read up to the time of the others */
        LIVE_STREAM_OVER,
} LiveStreamState;

typedef struct LiveStream {
        uint64_t id;
        LiveTrace *trace; /* borrowed */
        LiveStreamState state;
        FeedStream *feed; /* borrowed from the table; NULL: no packet has come */
        uint64_t held;    /* its number among the held streams; 0: not held */
        bool has_items;   /* its packet was begun */
        ViewerIndex index;
        GByteArray *packet;      /* owned */
        TraceMetadata *metadata; /* owned: the metadata for reading the packet */
        int64_t known;       /* no older items will come, in ns since 1970; INT64_MIN: unknown */
        uint64_t beacon;     /* clock value of the last beacon */
        gint64 last_sign;    /* time of its last packet or beacon, in us, monotonic */
        gint64 awaits_since; /* since when it waits for its metadata, monotonic us; 0: it does
                              * not */
        uint64_t largest;    /* bits of its largest packet */
        LivePace pace;
        bool has_printed; /* the loss of a packet */
} LiveStream;

/* What is merged. */
typedef struct LiveMerge {
        PacketFeed *feed;   /* borrowed */
        uint64_t number;    /* of the live reader */
        GPtrArray *streams; /* owned LiveStreams */
        int64_t now;        /* all streams have come to this time; INT64_MIN: not known */
} LiveMerge;

/* A value of the clock of a stream that is known, in ns. */
uint64_t live_stream_ns(const LiveStream *stream, uint64_t cycles);
/* The stream is at the end of its packet, or the packet is unusable: the next one is requested. */
void live_stream_end_packet(LiveStream *stream);
/* Feeds all items that can be fed by now, and closes streams that have ended. */
void live_merge(LiveMerge *merge);
