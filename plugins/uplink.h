/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Uplink: the feed's connection to the daemon
 *
 * Never blocks for longer than it is told to: what cannot be sent yet stays queued, and what the
 * daemon says is taken in at every exchange, so that neither side waits for the other for ever.
 */

#include "wire/ingest.h"

#include <babeltrace2/babeltrace.h>

typedef struct Uplink {
        bt_self_component *self; /* borrowed: whom the error causes come from */
        char *path;              /* owned */
        int fd;
        GByteArray *out;    /* owned: to be sent */
        size_t n_sent;      /* of it */
        GByteArray *in;     /* owned: the start of a frame */
        GArray *watermarks; /* owned, by stream number: Watermark */
        bool is_greeted;    /* the daemon's HELLO is there */
        bool may_go;        /* the last word was GO, not HOLD */
        uint64_t n_commits;
        uint64_t n_committed;
} Uplink;

/* Connects and greets. NULL with an error cause if there is no daemon. */
Uplink *uplink_new(bt_self_component *self, const char *path);
void uplink_free(Uplink *uplink);

/*
 * Sends and receives what is possible, waiting at most TIMEOUT_MS (0: not at all) for something to
 * be. A signal ends the wait. False with an error cause if the daemon is gone or has refused.
 */
bool uplink_exchange(Uplink *uplink, int timeout_ms);

/* Queues STREAM_OPEN. */
void uplink_open_stream(Uplink *uplink, uint32_t number, const IngestStream *identity);
/* False as long as the daemon has not answered the STREAM_OPEN. */
bool uplink_watermark(const Uplink *uplink, uint32_t number, uint64_t *ret_time);

/* Queues N bytes of whole frames, and a COMMIT. */
void uplink_commit(Uplink *uplink, const uint8_t *frames, size_t n);

static inline uint64_t uplink_n_in_flight(const Uplink *uplink)
{
        return uplink->n_commits - uplink->n_committed;
}
