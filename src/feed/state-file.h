/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * State file: the state of a session's feeder, for other programs
 *
 * The file is in the state directory of the user who runs the feeder. The service
 * clrsym-feed@SESSION.service has /run/clrsym/feed-SESSION, which root and the service's own user
 * read, too.
 */

#include "lttng/daemon-process.h"

#include <stdint.h>
#include <sys/types.h>

typedef enum FeedPhase {
        FEED_STARTING,
        FEED_LIVE,
        FEED_IDLE,        /* live, and no program has emitted an event yet */
        FEED_CATCHING_UP, /* reads live, and holds events back until earlier ones are read */
        FEED_FROM_FILES,  /* another viewer has the session: reads the relay daemon's files only */
        FEED_NO_DAEMON,   /* waits for clrsymd */
        FEED_NO_RELAYD,   /* waits for the relay daemon */
        FEED_NO_SESSION,  /* waits for the session, which the relay daemon does not have */
        FEED_FAILED,      /* the live reader has failed, and is restarted after a while */
        _FEED_PHASE_MAX,
} FeedPhase;

typedef struct FeedState {
        char *path; /* owned: the state directory; NULL: there is none */
        char *file; /* owned */
        DaemonProcess self;
        uint64_t n_packets, n_bytes; /* caught up */
        unsigned n_restarts;         /* how often it stopped being live, or failed */
        FeedPhase phase;
        gint64 since;         /* of the phase: seconds since 1970 */
        gint64 read_until_us; /* earlier events have been read: us since 1970 */
        char *last_error;     /* owned: the last failure, even if it has passed; NULL: none */
        gint64 error_at;
} FeedState;

void state_file_init(FeedState *state, const char *session);
/* REASON: why the phase is not "live"; may be NULL. */
void state_file_write(FeedState *state, FeedPhase phase, const char *reason);
void state_file_remove(FeedState *state);

/* "live", "no-relayd": static. */
const char *feed_phase_name(FeedPhase phase);

/*
 * The state of a running feeder of the session: {"pid", "start", "session", "state",
 * "since", "read_until_us", "reason", "restarts", "last_error", "last_error_at",
 * "caught_up_packets"}. NULL: there is none. The caller owns it.
 */
json_t *state_file_read(const char *session);

/* True if a running feeder of the session is live, and began to read earlier events after TIME_US
 * (since 1970). */
bool state_file_has_read(const char *session, gint64 time_us);

/*
 * Array of all states that can be read. A feeder that ended without removing its file has the state
 * "gone". The caller owns it.
 */
json_t *state_file_list(void);
