/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Uplink: the feed's connection to the daemon, whose failures are error causes of babeltrace2
 */

#include "wire/ingest-uplink.h"

#include <babeltrace2/babeltrace.h>

typedef struct Uplink {
        bt_self_component *self; /* borrowed: the component of the error causes */
        char *path;              /* owned */
        IngestUplink *link;      /* owned */
} Uplink;

/* Connects and greets. NULL with an error cause if there is no daemon. */
Uplink *uplink_new(bt_self_component *self, const char *path);
void uplink_free(Uplink *uplink);

/*
 * Sends and receives what is possible, waiting at most TIMEOUT_MS (0: not at all) until something
 * is. A signal ends the wait. False with an error cause if the daemon has gone or refused.
 */
bool uplink_exchange(Uplink *uplink, int timeout_ms);
