/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * State file: how a feeder of a session is, for other programs to see
 */

#include "session/service.h"

#include <stdint.h>
#include <sys/types.h>

typedef struct FeedState {
        char *place; /* owned: NULL: there is none */
        char *file;  /* owned */
        Service self;
        pid_t live_pid;              /* of the babeltrace2 that reads live; 0: none */
        uint64_t n_packets, n_bytes; /* caught up */
        unsigned n_restarts;
} FeedState;

void state_file_init(FeedState *state, const char *session);
/* STATE: "live", "no-daemon", "no-session", "failed"; REASON may be NULL. */
void state_file_write(const FeedState *state, const char *text, const char *reason);
void state_file_remove(FeedState *state);

/* What a feeder that runs now has written; NULL: there is none. The caller's. */
json_t *state_file_read(const char *session);
