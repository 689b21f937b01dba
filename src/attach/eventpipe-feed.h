/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * EventPipe feed: the streams of one target's sessions, read and sent to the daemon
 *
 * The session that is held and the listings (rundowns, each a short session of its own) are merged
 * by time into one stream of the ingest protocol. Whose events they are is what the kernel knows of
 * the target, whatever the streams say.
 *
 * Nothing here waits for the daemon, but eventpipe_feed_finish(): what is pushed is taken at once.
 * What the daemon has not acknowledged is kept, in memory and then in a file (FEED_LIMITS, and
 * worker-account.h for the files of all processes); while there is more, events are dropped, and
 * the daemon gets a gap. A daemon that is not there is looked for again.
 *
 * The workers of one target feed one trace, one stream each: so the daemon knows that nothing more
 * comes from a worker that died.
 */

#include "attach/backlog.h"
#include "event/record.h"
#include "util/process-key.h"

#include <glib.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

/* What is kept of one process, unless there is a reason for other limits. */
#define FEED_LIMITS ((BacklogLimits){.memory = 4u << 20, .file = 256u << 20})
/* The most that the file has instead: a size such as 1G, or 0. */
#define FEED_LIMIT_VARIABLE "CLRSYM_SPILL_LIMIT"

/*
 * Bytes of events that wait in memory for a listing to end, or for an older event: a listing of
 * half a million methods. With more, or when all workers of a holder have as much as they may
 * (worker-account.h), the listing is given up.
 */
#define FEED_MAX_WAITING (UINT64_C(192) << 20)
/* What the session alone may have of them; a runtime promises every 10 MB that nothing older
 * comes. */
#define FEED_MAX_QUEUED (16u << 20)

typedef struct EventPipeFeed EventPipeFeed;

typedef struct FeedTarget {
        ProcessKey process; /* in its own pid namespace */
        uint32_t uid;
        uint64_t start_ticks; /* in clock ticks since boot */
        int64_t clock_ahead; /* ns: its CLOCK_MONOTONIC less ours, in a time namespace of its own */
        int64_t clock_offset; /* realtime less CLOCK_MONOTONIC in ns; the same for all workers */
} FeedTarget;

/*
 * SINCE, in ns of CLOCK_MONOTONIC: when the session was open; no other worker of the target has the
 * same. INGEST is the path of the daemon's socket; copied.
 */
EventPipeFeed *eventpipe_feed_new(const char *ingest, const FeedTarget *target,
                                  const BacklogLimits *limits, uint64_t since);
/* False: what the environment has is not a size. Then RET_LIMITS is FEED_LIMITS. */
bool eventpipe_feed_find_limits(BacklogLimits *ret_limits, GError **error);

/*
 * What is known of the process without its events, for one that is too short for its listing:
 * VERSION ("10.0.12") of its runtime, and its COMMAND line, which may be NULL. At most once, before
 * anything is pushed.
 */
void eventpipe_feed_put_runtime(EventPipeFeed *feed, const char *version, const char *command);

/* What was not sent is lost. NULL is fine. */
void eventpipe_feed_free(EventPipeFeed *feed);

/* TOOK is called with each record from now on, whether or not the daemon gets it. */
void eventpipe_feed_watch(EventPipeFeed *feed, void (*took)(void *data, const Record *record),
                          void *data);

/* Takes N bytes of the session's stream. After an error bytes are passed over. */
void eventpipe_feed_push(EventPipeFeed *feed, const uint8_t *bytes, size_t n);

/* A listing begins; its bytes follow. It is sent once it has ended; if it is not whole, it is
 * dropped. */
void eventpipe_feed_begin_listing(EventPipeFeed *feed);
void eventpipe_feed_push_listing(EventPipeFeed *feed, const uint8_t *bytes, size_t n);
/* Returns true if it is sent. */
bool eventpipe_feed_end_listing(EventPipeFeed *feed, bool is_whole);
/* Why the last listing was given up, or cannot be read; NULL: it was not. Owned by the feed. */
const GError *eventpipe_feed_listing_error(const EventPipeFeed *feed);

/* Why the session's stream cannot be read on, or NULL; owned by the feed. */
const GError *eventpipe_feed_error(const EventPipeFeed *feed);
/* Everything before that time, ns, was given to the daemon, or waits for it. */
uint64_t eventpipe_feed_horizon(const EventPipeFeed *feed);
/* The time, ns, of the last event that came and is not before the horizon; 0: there is none. */
uint64_t eventpipe_feed_waiting(const EventPipeFeed *feed);

/* True once for each time that the daemon turned out to have forgotten what it had acknowledged: it
 * was started again without a journal. */
bool eventpipe_feed_take_forgotten(EventPipeFeed *feed);

/* What its file may have together with those of other processes; SHARE is borrowed. */
void eventpipe_feed_set_share(EventPipeFeed *feed, WorkerShare *share);

/* Why the daemon does not take the events, or did not when it was asked last; NULL: it does, or was
 * not asked yet. Owned by the feed. */
const char *eventpipe_feed_trouble(const EventPipeFeed *feed);
/* The daemon has answered on this connection: it has a place for this feeder. */
bool eventpipe_feed_is_greeted(const EventPipeFeed *feed);
/* Batches so far. */
uint64_t eventpipe_feed_n_committed(const EventPipeFeed *feed);
/* The daemon has acknowledged the first N of them. */
bool eventpipe_feed_has(const EventPipeFeed *feed, uint64_t n);

/* What to poll for. Returns the ms until eventpipe_feed_run() is due anyhow; -1: it is not. */
int eventpipe_feed_poll(const EventPipeFeed *feed, struct pollfd *ret_fd);
/* Sends and receives what can be, and connects if it is time for that. */
void eventpipe_feed_run(EventPipeFeed *feed);

/*
 * The session's stream is over: sends the rest, and waits for the daemon to acknowledge it, for
 * LIMIT us at most.
 */
void eventpipe_feed_finish(EventPipeFeed *feed, gint64 limit);
