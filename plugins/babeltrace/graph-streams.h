/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Graph streams: the identity of each stream of a babeltrace2 graph, and its clock
 */

#include "event/decode.h"
#include "event/stream.h"
#include "wire/ingest-client.h"

#include <babeltrace2/babeltrace.h>

typedef struct GraphStream {
        const bt_stream *stream; /* owned reference */
        bool has_clock;          /* without, nothing of it has a time */
        uint64_t frequency;
        bool has_pid; /* the trace's environment names the one process */
        int32_t pid;
        StreamIdentity *identity; /* owned */

        /* The feed component sets these. */
        IngestStream *open; /* borrowed from the ingest client; NULL: not opened */
        bool is_touched;    /* has records in the batch under way */
        bool has_begun;     /* the PROGRESS with its first time was put */
        uint64_t watermark; /* the daemon has all records up to here */
        uint64_t progress;  /* last one sent */
        uint64_t end;       /* of its last packet */
} GraphStream;

typedef struct GraphStreams {
        /* owned reference to const bt_stream -> owned GraphStream; until its end message */
        GHashTable *infos;
        /* The last lookup. */
        const bt_stream *last_stream;
        GraphStream *last_info;
} GraphStreams;

void graph_streams_init(GraphStreams *streams);
void graph_streams_deinit(GraphStreams *streams);

/* The info of a stream, made when it is first met. */
GraphStream *graph_streams_get(GraphStreams *streams, const bt_stream *stream);
void graph_streams_remove(GraphStreams *streams, const bt_stream *stream);

/* The stream that a message is about, NULL if it is about none. */
const bt_stream *message_stream(const bt_message *message);

/*
 * The time at which a message stands in the graph's order, false if it has none. Nothing that
 * comes later is older.
 */
const bt_clock_snapshot *message_clock_snapshot(const bt_message *message);

/* A clock snapshot of the stream in ns of its clock. */
uint64_t graph_stream_time(const GraphStream *info, const bt_clock_snapshot *snapshot);

/* The gap of a discarded events or discarded packets message. */
void graph_stream_gap(const GraphStream *info, const bt_message *message, StreamGap *ret_gap);

/* The name of the stream's trace, "" if it has none. Borrowed. */
const char *graph_stream_trace_name(const GraphStream *info);
/* The name of its LTTng session, "" if it is not known. Borrowed. */
const char *graph_stream_session_name(const GraphStream *info);
