/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Graph copy: copies the traces, streams, clocks and classes of a filter's input for its output
 *
 * The copies also have the members that named-fields.h appends. A copy exists as long as its
 * original.
 */

#include "class-copy.h"
#include "named-fields.h"

typedef struct StreamClassCopy {
        bt_stream_class *copy; /* owned */
        ClassCopier copier;
        NamedFields context;
        bool is_monotonic;  /* its clock is CLOCK_MONOTONIC */
        uint64_t frequency; /* Hz; 0: no clock */
        GHashTable *events; /* owned: borrowed original -> owned EventClassCopy */
} StreamClassCopy;

typedef struct EventClassCopy {
        bt_event_class *copy; /* owned */
        NamedFields specific, payload;
} EventClassCopy;

typedef struct StreamCopy {
        const bt_stream *original; /* owned reference */
        bt_stream *copy;           /* owned */
        StreamClassCopy *class;    /* borrowed */
        int64_t pid;               /* process of the trace; -1: of several processes */
        bt_packet *packet;         /* owned: copy of the open packet; NULL: none */
} StreamCopy;

typedef struct GraphCopy {
        bt_self_component *self; /* borrowed */
        uint64_t mip;
        const NamedFieldsSettings *settings; /* borrowed */
        bool is_clock_monotonic;   /* the user's setting, for clocks that do not show it */
        GHashTable *trace_classes; /* owned: borrowed original -> owned TraceClassCopy */
        GHashTable *traces;        /* owned: borrowed original -> owned TraceCopy */
        GHashTable *clocks;        /* owned: owned reference -> owned copy */
        GHashTable *streams;       /* owned: borrowed original -> owned StreamCopy */
} GraphCopy;

void graph_copy_init(GraphCopy *graph, bt_self_component *self, const NamedFieldsSettings *settings,
                     bool is_clock_monotonic);
void graph_copy_deinit(GraphCopy *graph);
/* Restarts all streams. */
void graph_copy_rewind(GraphCopy *graph);

/* The copy, made at the first request; borrowed. NULL: no memory. */
StreamCopy *graph_copy_stream(GraphCopy *graph, const bt_stream *original);
EventClassCopy *graph_copy_event_class(GraphCopy *graph, StreamClassCopy *stream,
                                       const bt_event_class *original);
bt_clock_class *graph_copy_clock_class(GraphCopy *graph, const bt_clock_class *original);
void graph_copy_end_stream(GraphCopy *graph, const bt_stream *original);
