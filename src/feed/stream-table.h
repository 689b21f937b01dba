/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Stream table: how far each stream of a session was fed, live and from disk
 *
 * A stream is the same, live and on disk, if trace, class and number are equal.
 */

#include "ctf/data-stream.h"
#include "wire/ingest.h"

typedef struct StreamKey {
        uint8_t uuid[16]; /* of the trace */
        uint64_t class_id;
        uint64_t stream_id;
} StreamKey;

/* FeedStream.number while the stream is not open. */
#define FEED_STREAM_NO_NUMBER UINT32_MAX

/*
 * A stream with the daemon that is connected now:
 *
 *              opened            ACK          the live reader goes on with it
 *    UNOPENED --------> ASKED --------> KNOWN <---------------------------> LIVE
 *       ^  \              ^               |    the live reader has ended     |
 *       |   \             | opened again  | closed: its session is over      | closed
 *       |    \            +-----------+   v                                  |
 *       |     +-------------------> WHOLE <----------------------------------+
 *       |
 *       +--- from every state, when the daemon is gone
 */
typedef enum FeedStreamState {
        STREAM_UNOPENED,
        STREAM_ASKED, /* the daemon has not sent its watermark yet */
        STREAM_KNOWN, /* fed from disk, or not fed */
        STREAM_LIVE,  /* a live reader feeds it */
        STREAM_WHOLE, /* it has ended and was fed completely; not open any more */
} FeedStreamState;

/* Times are on the stream's clock, in ns. */
typedef struct FeedStream {
        StreamKey key;
        const StreamIdentity *identity; /* the reader's; NULL: not known yet */
        CtfDataStream *data;            /* owned: its reader, for packets live and from disk */

        /* With the daemon that is connected now. */
        FeedStreamState state;
        uint32_t number;    /* on the connection; FEED_STREAM_NO_NUMBER: not open */
        uint64_t watermark; /* the daemon has everything at or below it */
        uint64_t taken;     /* the last record sent, even if it is not acknowledged */
        size_t n_same;      /* bytes of the records of that time; SIZE_MAX: later records of it are
                             * a gap */
        uint64_t progress;  /* nothing older will come; 0: nothing was fed yet */
        bool has_begun;     /* its reader continues at its position, and counts losses */
        bool is_late;       /* other streams do not wait for it: it may have older events */
        bool has_printed_damage;
        uint64_t disk_end; /* packets on disk that end up to here were fed */

        /*
         * The time of the last record that was fed before the stream was closed, at least 1; 0: the
         * stream continues. After a reconnection, the daemon is not asked about it: only its
         * packets on disk, if any, can show that the daemon lacks some of it.
         */
        uint64_t ended;
        bool has_unknown_past; /* it may have had events that are not known any more */
        uint64_t caught_up;    /* the number of the live reader since whose attachment the disk was
                                * read */
} FeedStream;

typedef struct StreamTable {
        GHashTable *streams; /* owned: StreamKey of its value -> owned FeedStream */
} StreamTable;

void stream_table_init(StreamTable *table);
void stream_table_deinit(StreamTable *table);

/* The stream of that key, new or known. The table owns it until its own end. */
FeedStream *stream_table_get(StreamTable *table, const StreamKey *key);
/* A time on its clock, in ns since 1970; INT64_MAX if that overflows. The stream must have an
 * identity. */
int64_t stream_order(const FeedStream *stream, uint64_t time);
/* Packets up to this time need not be read from disk. */
uint64_t stream_position(const FeedStream *stream);
/* A live reader feeds it, or did until its end: it needs no packets from disk. */
bool stream_is_complete(const FeedStream *stream);

/* The stream has ended. */
void stream_end(FeedStream *stream);

/* The connection is lost: fed events no longer count. */
void stream_table_forget_daemon(StreamTable *table);

/* The time up to which the same buffers were fed in an earlier session; 0: not known. */
uint64_t stream_table_earlier(const StreamTable *table, const FeedStream *stream);
