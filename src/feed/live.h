/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Live: reads a live session from lttng-relayd, as its viewer, into the packet feed
 *
 *    CONNECTING ---> LISTING ---> ATTACHING ---> ATTACHED
 *
 * The relay daemon can have several sessions for it, one for each domain. A new stream is held
 * until live_release(), because a stream is fed in order of time, so its earlier events are read
 * from disk first. While a stream is held, nothing is fed, and the relay daemon keeps the events.
 *
 * The streams are merged by time. A stream without a packet is waited for until its beacon or its
 * next packet shows its time; but not forever.
 */

#include "feed/packet-feed.h"

typedef struct Live Live;

typedef struct LiveSettings {
        const char *host; /* of the relay daemon; these are borrowed */
        uint16_t port;
        pid_t net;          /* the process whose network namespace has the relay daemon; 0: ours */
        const char *target; /* the traced machine */
        const char *session;
} LiveSettings;

typedef enum LiveEnd {
        LIVE_END_NO_SESSION, /* the session does not exist, or has ended and was read completely */
        LIVE_END_BUSY,       /* another viewer has it */
        LIVE_END_LOST,       /* the connection is lost */
        LIVE_END_BROKEN,     /* the relay daemon does not follow the protocol */
} LiveEnd;

typedef struct LiveCalls {
        /* The reader is attached: it gets all events from now on. */
        void (*attached)(void *data);
        /* A new stream is held. */
        void (*held)(void *data);
        /* REASON is borrowed, one line. live_free() is next. */
        void (*ended)(void *data, LiveEnd end, const char *reason);
} LiveCalls;

/* NUMBER: of this reader among all live readers, from 1. NULL with ERROR set. */
Live *live_new(PacketFeed *feed, StreamTable *table, const LiveSettings *settings, uint64_t number,
               const LiveCalls *calls, void *data, GError **error);
/* Hangs up. NULL is fine. */
void live_free(Live *live);

/* The reader has reached the relay daemon. */
bool live_is_connected(const Live *live);
/* The reader gets all events from now on, and there are streams. */
bool live_is_attached(const Live *live);
/* As viewer_link_waits_since(). */
gint64 live_waits_since(const Live *live);
uint64_t live_number(const Live *live);

/* Number of the last stream that was held, counted from 1; 0: none was. */
uint64_t live_last_held(const Live *live);
unsigned live_n_held(const Live *live);
/* Continues with held streams up to that number. */
void live_release(Live *live, uint64_t last);
/* The daemon has answered. */
void live_go_on(Live *live);
