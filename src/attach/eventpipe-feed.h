/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * EventPipe feed: the streams of one target's sessions, read and sent to the daemon
 *
 * The feed merges the held session and the listings (rundowns, each a short session of its own) by
 * time into one stream of the ingest protocol. The kernel's facts identify the target, not its
 * streams.
 *
 * Only eventpipe_feed_finish() waits for the daemon; pushed bytes are taken at once. Unacknowledged
 * events are kept, in memory and then in a file (FEED_LIMITS, and worker-account.h for the files of
 * all processes). Beyond these limits, events are dropped, and the daemon gets a gap. The feed
 * reconnects to a daemon that is away.
 *
 * The workers of one target feed one trace, with one stream each, so the daemon knows that a dead
 * worker sends nothing more.
 */

#include "attach/backlog.h"
#include "event/record.h"
#include "util/process-key.h"

#include <glib.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

/* Default limits for one process. */
#define FEED_LIMITS ((BacklogLimits){.memory = 4u << 20, .file = 256u << 20})
/* Overrides the limit of the file: a size such as 1G, or 0. */
#define FEED_LIMIT_VARIABLE "CLRSYM_SPILL_LIMIT"

/*
 * Bytes of events in memory that wait for the end of a listing, or for an older event: enough for a
 * listing of half a million methods. Beyond this, or the limit for all workers of a holder
 * (worker-account.h), the listing is given up.
 */
#define FEED_MAX_WAITING (UINT64_C(192) << 20)
/* The session's part of these bytes; a runtime writes a sequence point every 10 MB. */
#define FEED_MAX_QUEUED (16u << 20)

typedef struct EventPipeFeed EventPipeFeed;

typedef struct FeedTarget {
        ProcessKey process; /* in its own pid namespace */
        uint32_t uid;
        uint64_t start_ticks; /* in clock ticks since boot */
        int64_t clock_ahead;  /* ns: the target's CLOCK_MONOTONIC less ours, in a time namespace of
                               * its own */
        int64_t clock_offset; /* realtime less CLOCK_MONOTONIC in ns; the same for all workers */
} FeedTarget;

/*
 * SINCE: ns of CLOCK_MONOTONIC when the session was opened, unique among the workers of the target.
 * INGEST: path of the daemon's socket; copied.
 */
EventPipeFeed *eventpipe_feed_new(const char *ingest, const FeedTarget *target,
                                  const BacklogLimits *limits, uint64_t since);
/* False with ERROR set: the environment variable is not a size. Then RET_LIMITS is FEED_LIMITS. */
bool eventpipe_feed_find_limits(BacklogLimits *ret_limits, GError **error);

/*
 * Sends facts that need no events, for a process that exits before its listing: VERSION ("10.0.12")
 * of its runtime, and its COMMAND line, which may be NULL. Call this at most once, before the first
 * push.
 */
void eventpipe_feed_put_runtime(EventPipeFeed *feed, const char *version, const char *command);

/* Drops unsent events. NULL is fine. */
void eventpipe_feed_free(EventPipeFeed *feed);

/* Calls TOOK for each record from now on, even if the daemon does not get it. */
void eventpipe_feed_watch(EventPipeFeed *feed, void (*took)(void *data, const Record *record),
                          void *data);

/* Takes N bytes of the session's stream. Ignores bytes after an error. */
void eventpipe_feed_push(EventPipeFeed *feed, const uint8_t *bytes, size_t n);

/* Begins a listing; its bytes follow. The listing is sent when it has ended, and dropped if it is
 * incomplete. */
void eventpipe_feed_begin_listing(EventPipeFeed *feed);
void eventpipe_feed_push_listing(EventPipeFeed *feed, const uint8_t *bytes, size_t n);
/* True if the listing is sent. */
bool eventpipe_feed_end_listing(EventPipeFeed *feed, bool is_whole);
/* Why the last listing was given up, or is unreadable; NULL: neither. Owned by the feed. */
const GError *eventpipe_feed_listing_error(const EventPipeFeed *feed);

/* Why the session's stream is unreadable, or NULL; owned by the feed. */
const GError *eventpipe_feed_error(const EventPipeFeed *feed);
/* ns: all events before were given to the daemon, or wait for it. */
uint64_t eventpipe_feed_horizon(const EventPipeFeed *feed);
/* ns: time of the last event that was taken; begin of the session: none was. */
uint64_t eventpipe_feed_last(const EventPipeFeed *feed);
/* ns: time of the last event that came, if it is not before the horizon; else 0. */
uint64_t eventpipe_feed_waiting(const EventPipeFeed *feed);

/* True once each time the daemon has forgotten acknowledged events, because it was restarted
 * without a journal. */
bool eventpipe_feed_take_forgotten(EventPipeFeed *feed);

/* Limits the file together with those of other processes; SHARE is borrowed. */
void eventpipe_feed_set_share(EventPipeFeed *feed, WorkerShare *share);

/* Why the daemon does not take the events, or did not at the last attempt; NULL: it does, or there
 * was no attempt yet. Owned by the feed. */
const char *eventpipe_feed_trouble(const EventPipeFeed *feed);
/* True if the daemon has answered on this connection, and has a place for this feeder. */
bool eventpipe_feed_is_greeted(const EventPipeFeed *feed);
/* Number of committed batches. */
uint64_t eventpipe_feed_n_committed(const EventPipeFeed *feed);
/* True if the daemon has acknowledged the first N batches. */
bool eventpipe_feed_has(const EventPipeFeed *feed, uint64_t n);

/* Sets the descriptor to poll. Returns the ms until eventpipe_feed_run() is due in any case; -1:
 * never. */
int eventpipe_feed_poll(const EventPipeFeed *feed, struct pollfd *ret_fd);
/* Sends and receives without waiting, and reconnects when that is due. */
void eventpipe_feed_run(EventPipeFeed *feed);

/*
 * Call this after the end of the session's stream: sends the rest, and waits for the daemon's
 * acknowledgement, for LIMIT us at most.
 */
void eventpipe_feed_finish(EventPipeFeed *feed, gint64 limit);
