/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Streams: who the streams of a graph are, and what their clocks say
 */

#include "core/decode.h"
#include "wire/ingest.h"

#include <babeltrace2/babeltrace.h>

typedef struct StreamInfo {
        const bt_stream *stream; /* owned reference */
        bool has_clock;          /* without, nothing of it has a time */
        uint64_t frequency;
        bool has_pid; /* the trace's environment names the one process */
        int32_t pid;
        IngestStream *identity; /* owned */

        /* The feed's */
        uint32_t number;    /* on the connection */
        bool is_open;       /* sent STREAM_OPEN, and not yet STREAM_CLOSE */
        bool is_touched;    /* has records in the batch under way */
        bool has_begun;     /* where it begins has been told */
        uint64_t watermark; /* what is at or below it is in the daemon */
        uint64_t progress;  /* last one sent */
        uint64_t end;       /* of its last packet */
} StreamInfo;

typedef struct Streams {
        /* owned reference to const bt_stream -> owned StreamInfo; until its end message */
        GHashTable *infos;
        /* The last lookup. */
        const bt_stream *last_stream;
        StreamInfo *last_info;
} Streams;

void streams_init(Streams *streams);
void streams_deinit(Streams *streams);

/* The info of a stream, made when it is first met. */
StreamInfo *streams_info(Streams *streams, const bt_stream *stream);
void streams_remove(Streams *streams, const bt_stream *stream);

/* The stream that a message is about, NULL if it is about none. */
const bt_stream *message_stream(const bt_message *message);

/*
 * The time at which a message stands in the graph's order, false if it has none. Nothing that
 * comes later is older.
 */
const bt_clock_snapshot *message_clock_snapshot(const bt_message *message);

/* A clock snapshot of the stream in ns of its clock. */
uint64_t stream_time(const StreamInfo *info, const bt_clock_snapshot *snapshot);

/* What a discarded events or packets message says. */
void stream_gap(const StreamInfo *info, const bt_message *message, IngestGap *ret_gap);

/* The name of a trace for people, newly allocated. */
char *stream_trace_name(const StreamInfo *info);
/* The name of its LTTng session, "SESSION" if it is not known. */
char *stream_session_name(const StreamInfo *info);
