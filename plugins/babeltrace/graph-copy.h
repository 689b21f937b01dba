/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Graph copy: the traces, streams, clocks and classes that come to a filter, as those that leave it
 *
 * They differ in the members that named-fields.h appends. A copy lives as long as its original.
 */

#include "class-copy.h"
#include "named-fields.h"

typedef struct StreamClassCopy {
        bt_stream_class *copy; /* owned */
        ClassCopier copier;
        NamedFields context;
        bool is_monotonic;  /* its times are those of CLOCK_MONOTONIC */
        uint64_t frequency; /* Hz; 0: it has no clock */
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
        int64_t pid;               /* that the trace is of; -1: of more than one */
        bt_packet *packet;         /* owned: the copy of the one that is open; NULL: none */
} StreamCopy;

typedef struct GraphCopy {
        bt_self_component *self; /* borrowed */
        uint64_t mip;
        const NamedFieldsSettings *settings; /* borrowed */
        bool is_clock_monotonic;   /* the user says that, of clocks that do not say it themselves */
        GHashTable *trace_classes; /* owned: borrowed original -> owned TraceClassCopy */
        GHashTable *traces;        /* the same: TraceCopy */
        GHashTable *clocks;        /* owned: owned reference -> owned copy */
        GHashTable *streams;       /* owned: borrowed original -> owned StreamCopy */
} GraphCopy;

void graph_copy_init(GraphCopy *graph, bt_self_component *self, const NamedFieldsSettings *settings,
                     bool is_clock_monotonic);
void graph_copy_deinit(GraphCopy *graph);
/* Its streams begin again. */
void graph_copy_rewind(GraphCopy *graph);

/* The copy, made when the original is first met; borrowed. NULL: not enough memory. */
StreamCopy *graph_copy_stream(GraphCopy *graph, const bt_stream *original);
EventClassCopy *graph_copy_event_class(GraphCopy *graph, StreamClassCopy *stream,
                                       const bt_event_class *original);
bt_clock_class *graph_copy_clock_class(GraphCopy *graph, const bt_clock_class *original);
void graph_copy_end_stream(GraphCopy *graph, const bt_stream *original);
