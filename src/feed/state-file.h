/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * State file: how a feeder of a session is, for other programs to see
 *
 * It is in the place of who runs it. That of the service, clrsym-feed@SESSION.service, is
 * /run/clrsym/feed-SESSION, where root and its own user look, too.
 */

#include "session/service.h"

#include <stdint.h>
#include <sys/types.h>

typedef enum FeedPhase {
        FEED_STARTING,
        FEED_LIVE,
        FEED_IDLE,        /* the same, and no program has said anything yet */
        FEED_CATCHING_UP, /* it reads live, and holds that back until what was before is in */
        FEED_FROM_FILES,  /* another viewer has the session: from the relay daemon's files only */
        FEED_NO_DAEMON,   /* waits for clrsymd */
        FEED_NO_RELAYD,   /* for the relay daemon */
        FEED_NO_SESSION,  /* for the session, which the relay daemon does not have */
        FEED_FAILED,      /* babeltrace2 has failed, and is started again after a while */
        _FEED_PHASE_MAX,
} FeedPhase;

typedef struct FeedState {
        char *place; /* owned: NULL: there is none */
        char *file;  /* owned */
        Service self;
        pid_t live_pid;              /* of the babeltrace2 that reads live; 0: none */
        uint64_t n_packets, n_bytes; /* caught up */
        unsigned n_restarts;         /* how often it was live and then was not, or failed */
        FeedPhase phase;
        gint64 since;     /* that phase: seconds since 1970 */
        char *last_error; /* owned: what went wrong last, which may be over; NULL: nothing */
        gint64 error_at;
} FeedState;

void state_file_init(FeedState *state, const char *session);
/* REASON: why it is not better; may be NULL. */
void state_file_write(FeedState *state, FeedPhase phase, const char *reason);
void state_file_remove(FeedState *state);

/* "live", "no-relayd": static. */
const char *feed_phase_name(FeedPhase phase);

/*
 * What a feeder of the session that runs now has written: {"pid", "start", "session", "state",
 * "since", "reason", "reader", "restarts", "last_error", "last_error_at", "caught_up_packets"}.
 * NULL: there is none. The caller's.
 */
json_t *state_file_read(const char *session);

/*
 * Array of all that can be seen; one that ended without removing its file has the state "gone". The
 * caller's.
 */
json_t *state_file_list(void);
