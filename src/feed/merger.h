/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Merger: brings what several readers have of the same streams to the daemon, as one feeder
 *
 * Readers are babeltrace2 processes with sink.clrsym.feed, which speak to the merger as if it were
 * the daemon: one of the live session, others of packets on disk. To the daemon it all is one
 * connection, on which each stream is open once, whoever feeds it at the moment; so a reader that
 * dies is no absence as long as another one goes on where it was. What none of them has is a gap.
 *
 * A stream that the live reader comes to is held (the reader waits for the answer to STREAM_OPEN,
 * and pulls nothing) until merger_release(): what the stream had before is to be read from disk
 * first, for nothing goes back in a stream.
 */

#include "feed/stream.h"

typedef struct Merger Merger;
typedef struct Intake Intake;

typedef enum IntakeMode {
        INTAKE_LIVE,
        INTAKE_DISK,  /* its streams go on when it has ended */
        INTAKE_PROBE, /* only says which streams there are: nothing of them is taken */
} IntakeMode;

/* None is called from within a function of the merger, but for those of the channels. */
typedef struct MergerCalls {
        /* The daemon is gone; WHY is borrowed. All intakes are to be freed. */
        void (*lost)(void *data, const char *why);
        /* The live reader waits for streams. */
        void (*held)(void *data);
        /* A reader has hung up, as it does when it ends; or, IS_BROKEN, makes no sense. */
        void (*ended)(void *data, Intake *intake, bool is_broken);
        /* The daemon's watermark of a stream has come. */
        void (*known)(void *data);
} MergerCalls;

/* CALLS and TABLE are borrowed. */
Merger *merger_new(StreamTable *table, const MergerCalls *calls, void *data);
void merger_free(Merger *merger);

/* Connects, and asks how far the streams of the table are. False with ERROR set. */
bool merger_connect(Merger *merger, const char *path, GError **error);
void merger_disconnect(Merger *merger);
/* The daemon has greeted, and has said how far each stream is that was asked for. */
bool merger_is_ready(const Merger *merger);
/* How many commits the daemon has still to answer. */
unsigned merger_n_in_flight(const Merger *merger);

/* Takes over the connection FD of a reader. */
Intake *intake_new(Merger *merger, IntakeMode mode, int fd);
void intake_free(Intake *intake);
/* How many streams it has opened. */
unsigned intake_n_streams(const Intake *intake);
/* The live reader is there: what comes from now on, it gets. */
bool intake_is_attached(const Intake *intake);

/* Number of the last stream that had to be held, counted from 1. */
uint64_t merger_last_held(const Merger *merger);
/* Lets the live reader go on with streams that were held, up to that number. */
void merger_release(Merger *merger, uint64_t last);
/* How many live readers there were: FeedStream.caught_up. */
uint64_t merger_live_number(const Merger *merger);

/*
 * What was read from disk is complete up to TIME, on the streams' clock (UINT64_MAX: all of it),
 * and goes to the daemon. What is later waits for the live reader to come there, or for this.
 */
void merger_settle(Merger *merger, uint64_t time);

/* It is over: nothing more will come of it. */
void merger_close_stream(Merger *merger, FeedStream *stream);
/* What it had up to TIME, and was not fed, is not to be had. */
void merger_give_up(Merger *merger, FeedStream *stream, uint64_t time);
