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
        bool has_clock;          /* false: its messages have no time */
        uint64_t frequency;
        bool has_pid; /* the trace's environment names its only process */
        int32_t pid;
        StreamIdentity *identity; /* owned */

        /* Set by the feed component. */
        IngestStream *open; /* borrowed from the ingest client; NULL: not opened */
        bool is_touched;    /* the present batch has records of it */
        bool has_begun;     /* the first PROGRESS was put */
        uint64_t watermark; /* the daemon has all records up to this time */
        uint64_t progress;  /* last sent progress */
        uint64_t end;       /* end of its last packet */
} GraphStream;

typedef struct GraphStreams {
        /* owned reference to const bt_stream -> owned GraphStream; until its end message */
        GHashTable *infos;
        /* Cache of the last lookup. */
        const bt_stream *last_stream;
        GraphStream *last_info;
} GraphStreams;

void graph_streams_init(GraphStreams *streams);
void graph_streams_deinit(GraphStreams *streams);

/* The data of a stream, made at the first request. */
GraphStream *graph_streams_get(GraphStreams *streams, const bt_stream *stream);
void graph_streams_remove(GraphStreams *streams, const bt_stream *stream);

/* The stream of a message; NULL: the message has none. */
const bt_stream *message_stream(const bt_message *message);

/* The time of a message in the graph's order; false: none. No later message is older. */
const bt_clock_snapshot *message_clock_snapshot(const bt_message *message);

/* A clock snapshot of the stream, in ns of its clock. */
uint64_t graph_stream_time(const GraphStream *info, const bt_clock_snapshot *snapshot);

/* The gap of a message about discarded events or packets. */
void graph_stream_gap(const GraphStream *info, const bt_message *message, StreamGap *ret_gap);

/* The name of the stream's trace; "": none. Borrowed. */
const char *graph_stream_trace_name(const GraphStream *info);
/* The name of its LTTng session; "": not known. Borrowed. */
const char *graph_stream_session_name(const GraphStream *info);
