/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Streams: what was fed of each stream of a session, in all of its ways
 *
 * A stream is the same, live and on disk, if trace, class and number are the same.
 */

#include "wire/ingest.h"

typedef struct StreamKey {
        uint8_t uuid[16]; /* of the trace */
        uint64_t class_id;
        uint64_t stream_id;
} StreamKey;

#define STREAM_CLOSED UINT32_MAX

typedef struct FeedStream {
        StreamKey key;
        IngestStream *identity; /* owned; NULL: only its packets on disk are known */

        /* With the daemon that is there now. */
        uint32_t number;    /* on the connection to it; STREAM_CLOSED: not opened */
        bool is_known;      /* the daemon has told its watermark */
        uint64_t watermark; /* what is at or below it is there */
        uint64_t taken;     /* the last record that was taken for it, be it still on its way */
        uint64_t progress;  /* nothing older will come; 0: nothing was fed yet */
        uint64_t disk_end;  /* packets on disk that end up to here were fed */
        bool is_whole;      /* it is over, and everything was fed */

        bool is_late;       /* it may have had what nobody can tell */
        bool is_live;       /* a live reader feeds it */
        uint64_t caught_up; /* number of the live reader since whose coming the disk was read */
} FeedStream;

typedef struct StreamTable {
        GHashTable *streams; /* owned: StreamKey of its value -> owned FeedStream */
} StreamTable;

void stream_table_init(StreamTable *table);
void stream_table_deinit(StreamTable *table);

/* The stream of that key, new or known; owned by the table, valid until its end. */
FeedStream *stream_table_get(StreamTable *table, const StreamKey *key);
/* Its identity, if it was not known. */
void stream_identify(FeedStream *stream, const IngestStream *identity);
/* Up to where it need not be read from disk. */
uint64_t stream_position(const FeedStream *stream);

/* There is another daemon, or none: what was fed to the last one counts no more. */
void stream_table_forget_daemon(StreamTable *table);

/* Of what the same buffers had in an earlier session: how far they were fed; 0: none is known. */
uint64_t stream_table_earlier(const StreamTable *table, const FeedStream *stream);
