/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Reader: CTF event messages to records
 */

#include "classes.h"
#include "streams.h"

typedef struct Reader {
        bt_self_component *self; /* borrowed: whom the error causes come from */
        Classes *classes;        /* owned */
        Streams streams;
        BtDecoder decoder;
        uint64_t n_events; /* of any kind */
} Reader;

typedef enum ReadResult {
        READ_RECORD,
        READ_SKIPPED, /* not wanted, or not decodable: counted */
        READ_REFUSED, /* a trace whose events cannot be told apart; an error cause is set */
} ReadResult;

void reader_init(Reader *reader, bt_self_component *self, EventUse use);
void reader_deinit(Reader *reader);

/* A sink's iterator on its port "in", for its graph-is-configured method. */
bt_component_class_sink_graph_is_configured_method_status
reader_create_iterator(bt_self_component_sink *sink, bt_message_iterator **ret_iterator);

/* Counts an event. Returns its info, NULL if it is not wanted. */
EventInfo *reader_event(Reader *reader, const bt_event *event);

/*
 * Decodes a wanted event. TIME is its time on the stream's clock. The record's views are valid
 * until the next call.
 */
ReadResult reader_read(Reader *reader, const EventInfo *info, const StreamInfo *stream,
                       const bt_event *event, uint64_t time, Record *ret_record);

/* Sums over all events seen. */
void reader_report(const Reader *reader, IngestReport *ret_report);

/* Sets an error cause: the stream's events have no time. */
void reader_refuse_clockless(const Reader *reader, const StreamInfo *stream);

/* Lines on stderr: what could not be decoded, and why. Nothing if all went well. */
void reader_print_errors(const Reader *reader);
/* Lines on stderr: the .NET events that there is no row for. */
void reader_print_unknown(const Reader *reader);
