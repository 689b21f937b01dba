/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Outlet: sends what was read of a session's streams, live and from disk, to the daemon
 *
 * To the daemon it is one connection, on which each stream is open once, whether its packets come
 * live or from disk at the moment. Everything goes in the order of time over all streams: what the
 * live reader puts goes at once, since it merges its streams; what is put from disk waits until
 * nothing older comes. What was never read is a gap.
 */

#include "feed/stream-table.h"

typedef struct Outlet Outlet;

/* None is called from within a function of the outlet. */
typedef struct OutletCalls {
        /* The daemon is gone; REASON is borrowed. outlet_disconnect() is next. */
        void (*lost)(void *data, const char *reason);
        /* The daemon has answered, for example with watermarks, or has room again. */
        void (*known)(void *data);
} OutletCalls;

/* CALLS, DATA and TABLE are borrowed. */
Outlet *outlet_new(StreamTable *table, const OutletCalls *calls, void *data);
void outlet_free(Outlet *outlet);

/* Connects, and asks for the watermarks of the streams that go on. False with ERROR set. */
bool outlet_connect(Outlet *outlet, const char *path, GError **error);
void outlet_disconnect(Outlet *outlet);
/* The daemon has greeted, and has reported the watermark of each stream that was asked for. */
bool outlet_is_ready(const Outlet *outlet);
/* The daemon wants more, and has few enough batches to acknowledge. */
bool outlet_may_put(const Outlet *outlet);
/* The daemon has everything that was put from disk, and has acknowledged all batches. */
bool outlet_is_settled(const Outlet *outlet);
/* Batches that the daemon has still to acknowledge. */
unsigned outlet_n_in_flight(const Outlet *outlet);

/* Opens a stream with an identity, if it is not open. False: too many are. */
bool outlet_open(Outlet *outlet, FeedStream *stream);

/* Where the frames of a stream come from. */
typedef enum OutletSource {
        OUTLET_LIVE,
        OUTLET_DISK,
} OutletSource;

/*
 * A reader begins with a stream at TIME, and does not know what was before: what is missing since
 * what was fed is a gap, also what the same buffers may have had since their last session.
 */
void outlet_begin(Outlet *outlet, OutletSource source, FeedStream *stream, uint64_t time);
/*
 * False: the daemon would refuse it, for example because it is too large for a frame; it is a gap.
 * It is put once: what is known is dropped.
 */
bool outlet_put_record(Outlet *outlet, OutletSource source, FeedStream *stream,
                       const Record *record);
void outlet_put_gap(Outlet *outlet, OutletSource source, FeedStream *stream, const StreamGap *gap);
/* Nothing older than TIME will come of the stream. */
void outlet_put_progress(Outlet *outlet, OutletSource source, FeedStream *stream, uint64_t time);
/* For the next batch. */
void outlet_put_report(Outlet *outlet, const FeederReport *report);

/*
 * All streams of the live session have come to NOW, in ns since 1970: what is older goes to the
 * daemon, and the streams that are fed live make progress. LIVE is the live reader's number: so do
 * the streams that were caught up since it attached.
 */
void outlet_settle_live(Outlet *outlet, int64_t now, uint64_t live);
/*
 * What was put from disk is complete up to TIME, on the streams' clock (UINT64_MAX: all of it),
 * and goes to the daemon. What is later waits for the live reader to come there, or for this.
 */
void outlet_settle_disk(Outlet *outlet, uint64_t time);

/* The stream is over: nothing more will come of it. */
void outlet_close(Outlet *outlet, FeedStream *stream);
/* Closes each stream that has ended, where the daemon turns out to have all of it. */
void outlet_close_ended(Outlet *outlet);
