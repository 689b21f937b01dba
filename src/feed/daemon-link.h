/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Daemon link: the feeder's connection to clrsymd
 *
 * An ingest client with its socket. Batches are not kept: after a loss of the connection everything
 * is read again, from the watermark that the daemon reports for each stream.
 */

#include "feed/stream-table.h"

typedef struct DaemonLink DaemonLink;

typedef struct DaemonLinkCalls {
        /* The daemon is gone. REASON is borrowed. */
        void (*lost)(void *data, const char *reason);
        /* Watermarks have arrived, a batch is safe, or the daemon wants more events, or no more. */
        void (*progressed)(void *data);
} DaemonLinkCalls;

/* CALLS and DATA are borrowed. */
DaemonLink *daemon_link_new(const DaemonLinkCalls *calls, void *data);
void daemon_link_free(DaemonLink *link);

/* False with ERROR set. */
bool daemon_link_connect(DaemonLink *link, const char *path, GError **error);
void daemon_link_disconnect(DaemonLink *link);

/* The daemon has greeted, and has answered for every stream that was opened. */
bool daemon_link_is_ready(const DaemonLink *link);
/* The daemon wants more events. */
bool daemon_link_may_go(const DaemonLink *link);
/* Batches that the daemon has not acknowledged. */
unsigned daemon_link_n_in_flight(const DaemonLink *link);

/* Opens a stream and asks for its watermark. False: too many are open. */
bool daemon_link_open(DaemonLink *link, FeedStream *stream);
/* Sends N bytes of whole frames as a batch. */
void daemon_link_commit(DaemonLink *link, const uint8_t *frames, size_t n);
/* Sends what was put so far, as far as the socket takes it. */
void daemon_link_flush(DaemonLink *link);
