/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Live merge: the streams of a live reader, and what of their packets can be fed by now
 */

#include "feed/live-pace.h"
#include "feed/packet-feed.h"
#include "feed/viewer-wire.h"

/* A CTF trace: one metadata stream, and data streams. */
typedef struct LiveTrace {
        uint64_t id;
        uint64_t metadata_stream;
        bool has_metadata_stream;
        bool wants_metadata; /* more than there is */
        bool is_asked;
        bool is_over;            /* it had streams, and all of them are over */
        unsigned n_streams;      /* data streams */
        GByteArray *text;        /* owned: all of the metadata so far; NULL: it is over */
        size_t n_parsed;         /* bytes of it that METADATA is of */
        TraceMetadata *metadata; /* owned; NULL: none yet */
        char *trouble;           /* owned: why it cannot be read; NULL: it can */
} LiveTrace;

/*
 *    IDLE --timer--> ASKED --index--> NEEDED --packet--> PACKET ---> IDLE
 *                      |
 *                      +---> OVER
 */
typedef enum LiveStreamState {
        LIVE_STREAM_IDLE,
        LIVE_STREAM_ASKED,  /* for its next index */
        LIVE_STREAM_NEEDED, /* its packet is to be got, maybe after metadata */
        LIVE_STREAM_GETTING,
        LIVE_STREAM_PACKET, /* its packet is here, and is read as far as the others are */
        LIVE_STREAM_OVER,
} LiveStreamState;

typedef struct LiveStream {
        uint64_t id;
        LiveTrace *trace; /* borrowed */
        LiveStreamState state;
        FeedStream *feed; /* borrowed from the table; NULL: no packet of it has come */
        uint64_t held;    /* its number among those that were held; 0: not held */
        bool has_items;   /* its packet is begun */
        ViewerIndex index;
        GByteArray *packet;      /* owned */
        TraceMetadata *metadata; /* owned: the packet is read with it */
        int64_t known;           /* nothing older will come, in ns since 1970; INT64_MIN: unknown */
        uint64_t beacon;         /* the last one */
        gint64 last_sign;        /* its last packet or beacon, in us, monotonic */
        gint64 awaits_since;     /* the metadata that declares it, monotonic us; 0: never */
        uint64_t largest;        /* of its packets, in bits */
        LivePace pace;
        bool has_printed; /* that a packet is lost */
} LiveStream;

/* What is merged. */
typedef struct LiveMerge {
        PacketFeed *feed;   /* borrowed */
        uint64_t number;    /* of the live reader */
        GPtrArray *streams; /* owned LiveStreams */
        int64_t now;        /* all streams have come to it; INT64_MIN: not known */
} LiveMerge;

/* A value of the clock of a stream that is known, in ns. */
uint64_t live_stream_ns(const LiveStream *stream, uint64_t cycles);
/* The stream is at the end of its packet, or nothing can be made of that: the next one is due. */
void live_stream_end_packet(LiveStream *stream);
/* Takes what can be taken by now of all streams, and closes those that are over. */
void live_merge(LiveMerge *merge);
