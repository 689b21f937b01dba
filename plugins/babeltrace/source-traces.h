/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Source traces: the traces of a CTF reader as objects of a babeltrace2 graph
 *
 * .NET events get event classes with the fields of their row (field_class_of_row()); any other, and
 * one that cannot be decoded, the fields that its metadata declares. Event classes are made when
 * their first event is met. A trace in several directories is one trace.
 */

#include "ctf/reader.h"

#include <babeltrace2/babeltrace.h>

typedef struct SourceStreamClass SourceStreamClass;

/* The `user` of a CtfDataStream. */
typedef struct SourceStream {
        const bt_stream *stream;  /* owned */
        bt_packet *packet;        /* owned; NULL: between packets */
        SourceStreamClass *class; /* borrowed */
        bool has_begun;           /* its first message was handed out */
} SourceStream;

/* The `user` of a CtfEventLayout. */
typedef struct SourceEventClass {
        bt_event_class *named;    /* owned; NULL: it has no row, or no event was decoded yet */
        bt_event_class *declared; /* owned; NULL: not needed yet */
} SourceEventClass;

/* What the messages of a stream class have. */
struct SourceStreamClass {
        bt_stream_class *class;  /* owned */
        const CtfLayout *layout; /* borrowed: of the first directory that has it */
        GHashTable *event_ids;   /* of those that are in use: owned uint64_t */
        GHashTable *stream_ids;  /* the same */
        /* One for each event, whatever directory it is from: borrowed CtfEventLayout by id. */
        GHashTable *events;
        bool has_clock;
        bool has_packet_begin, has_packet_end; /* clock snapshots */
        bool has_loss_times;                   /* snapshots of discarded events and packets */
};

typedef struct SourceTraces {
        uint64_t mip;
        bt_self_component *self;  /* borrowed */
        GPtrArray *traces;        /* owned */
        GPtrArray *streams;       /* owned SourceStream */
        GPtrArray *event_classes; /* owned SourceEventClass */
} SourceTraces;

/*
 * Makes the objects of all streams of READER, and sets their `user`. NAME, of the traces, may be
 * NULL. False with ERROR set; deinit is to be called all the same.
 */
bool source_traces_init(SourceTraces *traces, bt_self_component *self, const CtfReader *reader,
                        const char *name, GError **error);
void source_traces_deinit(SourceTraces *traces);

/*
 * The event class of EVENT: with the fields of its row (IS_NAMED), or as it is declared. NULL with
 * ERROR set. Borrowed.
 */
const bt_event_class *source_traces_event_class(SourceTraces *traces, SourceStreamClass *class,
                                                CtfEventLayout *event, bool is_named,
                                                GError **error);
