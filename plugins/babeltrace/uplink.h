/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Uplink: the feed's connection to the daemon
 *
 * An ingest client on a socket that never blocks for longer than a given time: what cannot be sent
 * yet stays queued, and what the daemon sends is taken in at every exchange, so that neither side
 * waits for the other for ever.
 */

#include "wire/ingest-client.h"

#include <babeltrace2/babeltrace.h>

typedef struct Uplink {
        bt_self_component *self; /* borrowed: the component of the error causes */
        char *path;              /* owned */
        int fd;
        IngestClient *client; /* owned */
        GByteArray *out;      /* owned: to be sent */
        size_t n_sent;        /* of it */
} Uplink;

/* Connects and greets. NULL with an error cause if there is no daemon. */
Uplink *uplink_new(bt_self_component *self, const char *path);
void uplink_free(Uplink *uplink);

/*
 * Sends and receives what is possible, waiting at most TIMEOUT_MS (0: not at all) until something
 * is. A signal ends the wait. False with an error cause if the daemon has gone or refused.
 */
bool uplink_exchange(Uplink *uplink, int timeout_ms);
