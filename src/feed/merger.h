/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Merger: sends what several readers have of the same streams to the daemon, as one feeder
 *
 * Readers are babeltrace2 processes with sink.clrsym.feed: one of the live session, others of
 * packets on disk. To the daemon it is one connection, on which each stream is open once, whichever
 * reader feeds it at the moment. So a reader that dies is not an absence, as long as another one
 * goes on where it was. What none of them has is a gap.
 *
 *    reader ---Intake---+
 *    reader ---Intake---+---> Merger ---DaemonLink---> clrsymd
 *    reader ---Intake---+
 *
 * A stream that the live reader comes to is held (the reader waits for the answer to STREAM_OPEN,
 * and pulls nothing) until merger_release(): what the stream had before is to be read from disk
 * first, because a stream is fed in the order of time.
 */

#include "feed/intake.h"

typedef struct Merger Merger;

/* None is called from within a function of the merger. */
typedef struct MergerCalls {
        /* The daemon is gone; REASON is borrowed. All readers are to be removed. */
        void (*lost)(void *data, const char *reason);
        /* The live reader waits for streams. */
        void (*held)(void *data);
        /* A reader has hung up, as it does when it ends; IS_BROKEN: it broke the protocol. */
        void (*ended)(void *data, Intake *intake, bool is_broken);
        /* The daemon has answered, for example with watermarks. */
        void (*known)(void *data);
} MergerCalls;

/* CALLS, DATA and TABLE are borrowed. */
Merger *merger_new(StreamTable *table, const MergerCalls *calls, void *data);
void merger_free(Merger *merger);

/* Connects, and asks for the watermarks of the streams that go on. False with ERROR set. */
bool merger_connect(Merger *merger, const char *path, GError **error);
void merger_disconnect(Merger *merger);
/* The daemon has greeted, and has reported the watermark of each stream that was asked for. */
bool merger_is_ready(const Merger *merger);
/* Commits that the daemon has still to acknowledge. */
unsigned merger_n_in_flight(const Merger *merger);

/* Takes over the connection FD of a reader. */
Intake *merger_add_reader(Merger *merger, IntakeMode mode, int fd);
/* Frees INTAKE. NULL is fine. */
void merger_remove_reader(Merger *merger, Intake *intake);

/* Number of the last stream that had to be held, counted from 1. */
uint64_t merger_last_held(const Merger *merger);
/* Streams that the live reader waits for now. */
unsigned merger_n_held(const Merger *merger);
/* Lets the live reader go on with held streams up to that number. */
void merger_release(Merger *merger, uint64_t last);
/* How many live readers there were: FeedStream.caught_up. */
uint64_t merger_live_number(const Merger *merger);

/*
 * What was read from disk is complete up to TIME, on the streams' clock (UINT64_MAX: all of it),
 * and goes to the daemon. What is later waits for the live reader to come there, or for this.
 */
void merger_settle(Merger *merger, uint64_t time);

/* The stream is over: nothing more will come of it. */
void merger_close_stream(Merger *merger, FeedStream *stream);
/* Closes each stream that has ended, where the daemon turns out to have all of it. */
void merger_close_ended(Merger *merger);
/* What the stream had up to TIME, and was not fed, is lost. */
void merger_give_up(Merger *merger, FeedStream *stream, uint64_t time);
