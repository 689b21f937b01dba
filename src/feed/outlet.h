/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Outlet: sends the events of a session's streams, live and from disk, to the daemon
 *
 * The daemon has one connection, on which each stream is open once, whether its packets come live
 * or from disk. Everything is sent in order of time over all streams: frames of the live reader at
 * once, because it merges its streams; frames from disk once nothing older comes. Events that were
 * never read are a gap.
 */

#include "feed/stream-table.h"

typedef struct Outlet Outlet;

/* None is called from within a function of the outlet. */
typedef struct OutletCalls {
        /* The connection is lost; REASON is borrowed. outlet_disconnect() is next. */
        void (*lost)(void *data, const char *reason);
        /* The daemon has answered, for example with watermarks, or has room again. */
        void (*known)(void *data);
} OutletCalls;

/* CALLS, DATA and TABLE are borrowed. */
Outlet *outlet_new(StreamTable *table, const OutletCalls *calls, void *data);
void outlet_free(Outlet *outlet);

/* Connects, and asks for the watermarks of the streams that continue. False with ERROR set. */
bool outlet_connect(Outlet *outlet, const char *path, GError **error);
void outlet_disconnect(Outlet *outlet);
/* The daemon has sent HELLO, and the watermark of each stream. */
bool outlet_is_ready(const Outlet *outlet);
/* The daemon accepts more, and has few enough batches to acknowledge. */
bool outlet_may_put(const Outlet *outlet);
/* The daemon has all frames from disk, and has acknowledged all batches. */
bool outlet_is_settled(const Outlet *outlet);
/* Batches that the daemon has not acknowledged yet. */
unsigned outlet_n_in_flight(const Outlet *outlet);

/* Opens a stream with an identity, if it is not open. False: too many are. */
bool outlet_open(Outlet *outlet, FeedStream *stream);

/* The source of a stream's frames. */
typedef enum OutletSource {
        OUTLET_LIVE,
        OUTLET_DISK,
} OutletSource;

/* A reader begins with a stream at TIME, and does not know earlier events: everything between the
 * fed events and TIME is a gap, also events of the same buffers since their last session. */
void outlet_begin(Outlet *outlet, OutletSource source, FeedStream *stream, uint64_t time);
/* False: the record is a gap, because the daemon would refuse it, for example if it is too large
 * for a frame. Known records are dropped. */
bool outlet_put_record(Outlet *outlet, OutletSource source, FeedStream *stream,
                       const Record *record);
void outlet_put_gap(Outlet *outlet, OutletSource source, FeedStream *stream, const StreamGap *gap);
/* No older event of the stream will come. */
void outlet_put_progress(Outlet *outlet, OutletSource source, FeedStream *stream, uint64_t time);
/* For the next batch. */
void outlet_put_report(Outlet *outlet, const FeederReport *report);

/*
 * All streams of the live session have come to NOW, in ns since 1970: older frames go to the
 * daemon, and the streams that are fed live make progress. LIVE is the live reader's number:
 * streams that were caught up since it attached make progress, too.
 */
void outlet_settle_live(Outlet *outlet, int64_t now, uint64_t live);
/*
 * Frames from disk are complete up to TIME, on the streams' clock (UINT64_MAX: all of them), and go
 * to the daemon. Later frames wait for the live reader to come to their time, or for the next call.
 */
void outlet_settle_disk(Outlet *outlet, uint64_t time);

/* The stream has ended. */
void outlet_close(Outlet *outlet, FeedStream *stream);
/* Closes each ended stream that the daemon has completely. */
void outlet_close_ended(Outlet *outlet);
