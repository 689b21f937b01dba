/* SPDX-License-Identifier: MIT */
#pragma once

/* Uplink: the feed's connection to the daemon; failures become error causes of babeltrace2 */

#include "wire/ingest-uplink.h"

#include <babeltrace2/babeltrace.h>

typedef struct Uplink {
        bt_self_component *self; /* borrowed: for error causes */
        char *path;              /* owned */
        IngestUplink *link;      /* owned */
} Uplink;

/* Connects, and exchanges greetings. NULL with an error cause: no daemon. */
Uplink *uplink_new(bt_self_component *self, const char *path);
void uplink_free(Uplink *uplink);

/*
 * Sends and receives, and waits at most TIMEOUT_MS (0: not at all) for that. A signal ends the
 * wait. False with an error cause: the daemon is gone, or has refused.
 */
bool uplink_exchange(Uplink *uplink, int timeout_ms);
