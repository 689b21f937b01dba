/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Live: reads a live session from lttng-relayd, as its viewer, into the packet feed
 *
 *    CONNECTING ---> LISTING ---> ATTACHING ---> ATTACHED
 *
 * The session may be several ones to the relay daemon, one for each domain. A stream that comes up
 * is held until live_release(): what it had before is to be read from disk first, because a stream
 * is fed in the order of time. While one is held, nothing is fed, and the relay daemon keeps it.
 *
 * The streams are merged by time. One that has no packet is waited for until its beacon, or its
 * next packet, says how far it is; but not for ever.
 */

#include "feed/packet-feed.h"

typedef struct Live Live;

typedef struct LiveSettings {
        const char *host; /* of the relay daemon; these are borrowed */
        uint16_t port;
        pid_t net;          /* the process whose network namespace it is in; 0: ours */
        const char *target; /* the traced machine */
        const char *session;
} LiveSettings;

typedef enum LiveEnd {
        LIVE_END_NO_SESSION, /* it does not exist, or it is over and everything was read */
        LIVE_END_BUSY,       /* another viewer has it */
        LIVE_END_LOST,       /* the connection is lost */
        LIVE_END_BROKEN,     /* the relay daemon does not do what it should */
} LiveEnd;

typedef struct LiveCalls {
        /* It is attached: it gets everything that is emitted from now on. */
        void (*attached)(void *data);
        /* It has come to a stream, which is held. */
        void (*held)(void *data);
        /* REASON is borrowed, one line. live_free() is next. */
        void (*ended)(void *data, LiveEnd end, const char *reason);
} LiveCalls;

/* NUMBER: of this reader among the live ones so far, from 1. NULL with ERROR set. */
Live *live_new(PacketFeed *feed, StreamTable *table, const LiveSettings *settings, uint64_t number,
               const LiveCalls *calls, void *data, GError **error);
/* Hangs up. NULL is fine. */
void live_free(Live *live);

/* It has reached the relay daemon. */
bool live_is_connected(const Live *live);
/* It gets everything that is emitted from now on, and there are streams. */
bool live_is_attached(const Live *live);
/* As viewer_link_waits_since(). */
gint64 live_waits_since(const Live *live);
uint64_t live_number(const Live *live);

/* Number of the last stream that was held, counted from 1; 0: none was. */
uint64_t live_last_held(const Live *live);
unsigned live_n_held(const Live *live);
/* Goes on with held streams up to that number. */
void live_release(Live *live, uint64_t last);
/* The daemon has answered. */
void live_go_on(Live *live);
