/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Graph reader: turns the event messages of a babeltrace2 graph into records
 */

#include "event-classes.h"
#include "graph-streams.h"

typedef struct GraphReader {
        bt_self_component *self; /* borrowed: for error causes */
        EventClasses *classes;   /* owned */
        GraphStreams streams;
        BtDecoder decoder;
        uint64_t n_events; /* of any kind */
} GraphReader;

typedef enum ReadResult {
        READ_RECORD,
        READ_SKIPPED, /* unwanted, or undecodable and counted */
        READ_REFUSED, /* the events do not name their process; an error cause is set */
} ReadResult;

void graph_reader_init(GraphReader *reader, bt_self_component *self, EventUse use);
void graph_reader_deinit(GraphReader *reader);

/* Creates a sink's iterator on its port "in", for its graph-is-configured method. */
bt_component_class_sink_graph_is_configured_method_status
graph_reader_create_iterator(bt_self_component_sink *sink, bt_message_iterator **ret_iterator);

/* Counts an event. Returns its class, NULL: unwanted. */
EventClass *graph_reader_event(GraphReader *reader, const bt_event *event);

/*
 * Decodes a wanted event. TIME is its time on the stream's clock. The record's views are valid
 * until the next call.
 */
ReadResult graph_reader_read(GraphReader *reader, const EventClass *info, const GraphStream *stream,
                             const bt_event *event, uint64_t time, Record *ret_record);

/* Sums over all events seen. */
void graph_reader_report(const GraphReader *reader, FeederReport *ret_report);

/* Sets an error cause: the stream's events have no time. */
void graph_reader_refuse_clockless(const GraphReader *reader, const GraphStream *stream);

/* Prints undecodable events and the reasons on stderr; nothing if all were decoded. */
void graph_reader_print_errors(const GraphReader *reader);
/* Prints the .NET events without a row on stderr. */
void graph_reader_print_unknown(const GraphReader *reader);
