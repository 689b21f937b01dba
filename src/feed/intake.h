/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Intake: the connection of a reader, which speaks to it as if it were the daemon
 *
 *               HELLO
 *    GREETING ---------> RUNNING
 *
 * It checks what the reader sends as the daemon would, which hangs up on all streams where one
 * frame is malformed: a record that the daemon would refuse becomes a gap. Batches are gathered as
 * they go to the daemon, with the stream numbers of that connection. Everything else is left to its
 * calls.
 */

#include "feed/stream-table.h"
#include "util/byte-pump.h"

typedef enum IntakeMode {
        INTAKE_LIVE,
        INTAKE_DISK,  /* its streams go on when it has ended */
        INTAKE_PROBE, /* only reports which streams exist: nothing of them is taken */
} IntakeMode;

/*
 * A stream on the connection:
 *
 *    WAITING ---ACK to the reader---> ANSWERED ---first time---> BEGUN ---STREAM_CLOSE---> CLOSED
 */
typedef enum IntakeStreamState {
        INTAKE_STREAM_WAITING,  /* for its release, and for the daemon's watermark */
        INTAKE_STREAM_ANSWERED, /* nothing with a time has come of it */
        INTAKE_STREAM_BEGUN,
        INTAKE_STREAM_CLOSED,
} IntakeStreamState;

typedef struct IntakeStream {
        FeedStream *stream; /* borrowed from the table */
        IntakeStreamState state;
        uint64_t held;     /* its number among the streams that were held; 0: not held */
        uint64_t progress; /* in the batch that is being gathered; 0: none */
        uint64_t taken;    /* likewise: its last record */
} IntakeStream;

typedef struct Intake Intake;

typedef struct IntakeCalls {
        /*
         * The reader opens a stream. Sets the stream and its hold. False: refused, the connection
         * is broken.
         */
        bool (*open)(void *data, Intake *intake, const StreamIdentity *identity, IntakeStream *own);
        /* Its first record or progress is of TIME; it follows in the batch. */
        void (*begin)(void *data, Intake *intake, FeedStream *stream, uint64_t time);
        /* The batch is complete. The callee empties it. */
        void (*commit)(void *data, Intake *intake);
        /* What arrived was taken. */
        void (*idle)(void *data, Intake *intake);
        /* The reader has hung up, as it does when it ends; IS_BROKEN: it broke the protocol. */
        void (*ended)(void *data, Intake *intake, bool is_broken);
} IntakeCalls;

struct Intake {
        IntakeMode mode;
        const IntakeCalls *calls;
        void *data;
        BytePump *channel; /* owned */
        GArray *streams;   /* of IntakeStream, by the reader's numbers */
        GByteArray *batch; /* owned: frames since the last COMMIT, as they go to the daemon */
        uint64_t now;      /* time of every stream of the session, in ns since 1970; 0: not known */
        FeederReport report; /* of the reader, with what was refused of it */
        uint64_t n_refused;  /* records that the daemon would not take */
        bool is_greeted;
        bool may_go;
};

/* Takes over FD. CALLS and DATA are borrowed. */
Intake *intake_new(IntakeMode mode, int fd, bool may_go, const IntakeCalls *calls, void *data);
void intake_free(Intake *intake);

static inline IntakeStream *intake_stream(const Intake *intake, guint i)
{
        return &g_array_index(intake->streams, IntakeStream, i);
}

/* How many streams it has opened. */
unsigned intake_n_streams(const Intake *intake);
/* The live reader receives everything that is emitted from now on. */
bool intake_is_attached(const Intake *intake);
/* Answers the STREAM_OPEN of number I with WATERMARK. */
void intake_answer(Intake *intake, guint i, uint64_t watermark);
/* The reader may pull events, or not. */
void intake_set_credit(Intake *intake, bool may_go);
/* Acknowledges the oldest batch. */
void intake_acknowledge(Intake *intake);
