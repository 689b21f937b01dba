/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Source traces: the traces of a CTF reader as objects of a babeltrace2 graph
 *
 * The event class of a .NET event has the fields of its row (field_class_of_row()). Other events,
 * and undecodable ones, have the fields that their metadata declares. An event class is made at its
 * first event. A trace in several directories is one trace.
 */

#include "ctf/reader.h"

#include <babeltrace2/babeltrace.h>

typedef struct SourceStreamClass SourceStreamClass;

/* The `user` of a CtfDataStream. */
typedef struct SourceStream {
        const bt_stream *stream;  /* owned */
        bt_packet *packet;        /* owned; NULL: between packets */
        SourceStreamClass *class; /* borrowed */
        bool has_begun;           /* its first message was emitted */
} SourceStream;

/* The `user` of a CtfEventLayout. */
typedef struct SourceEventClass {
        bt_event_class *named;    /* owned; NULL: no row, or no event decoded yet */
        bt_event_class *declared; /* owned; NULL: not needed yet */
} SourceEventClass;

/* The messages of a stream class. */
struct SourceStreamClass {
        bt_stream_class *class;  /* owned */
        const CtfLayout *layout; /* borrowed: of the first directory with it */
        GHashTable *event_ids;   /* owned: set of owned uint64_t, ids in use */
        GHashTable *stream_ids;  /* owned: set of owned uint64_t, ids in use */
        /* Owned: id -> borrowed CtfEventLayout; one for each event, of any directory. */
        GHashTable *events;
        bool has_clock;
        bool has_packet_begin, has_packet_end; /* messages have these clock snapshots */
        bool has_loss_times; /* messages of discarded events and packets have clock snapshots */
};

typedef struct SourceTraces {
        uint64_t mip;
        bt_self_component *self;  /* borrowed */
        GPtrArray *traces;        /* owned */
        GPtrArray *streams;       /* owned SourceStream */
        GPtrArray *event_classes; /* owned SourceEventClass */
} SourceTraces;

/*
 * Makes the objects of all streams of READER, and sets their `user`. NAME: of the traces, or NULL.
 * False with ERROR set. Deinitialize TRACES in both cases.
 */
bool source_traces_init(SourceTraces *traces, bt_self_component *self, const CtfReader *reader,
                        const char *name, GError **error);
void source_traces_deinit(SourceTraces *traces);

/*
 * The event class of EVENT: with the fields of its row (IS_NAMED), or as declared. NULL with ERROR
 * set. Borrowed.
 */
const bt_event_class *source_traces_event_class(SourceTraces *traces, SourceStreamClass *class,
                                                CtfEventLayout *event, bool is_named,
                                                GError **error);
