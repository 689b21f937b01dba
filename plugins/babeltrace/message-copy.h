/* SPDX-License-Identifier: MIT */
#pragma once

/* Copies messages for a filter's output, with the times, packets and losses of the originals */

#include "graph-copy.h"

/* The structures of an event that can have named fields: its contexts and its payload. */
#define EVENT_N_ROOTS 3

/* An event and its copy, whose added fields are not set; all borrowed. */
typedef struct EventCopy {
        const StreamCopy *stream;
        const NamedFields *fields[EVENT_N_ROOTS];
        const bt_field *originals[EVENT_N_ROOTS]; /* NULL: the event lacks it */
        bt_field *copies[EVENT_N_ROOTS];
        const bt_clock_snapshot *time; /* NULL: its stream has no clock */
} EventCopy;

typedef struct MessageCopier {
        bt_self_message_iterator *self; /* borrowed */
        GraphCopy graph;
        /*
         * Called for each event. Sets the added fields, or ensures that they are set before the
         * message leaves the filter. False: no memory.
         */
        bool (*on_event)(void *data, const EventCopy *event);
        void *data;
} MessageCopier;

/* A new reference to the copy. NULL: no memory. */
const bt_message *message_copier_copy(MessageCopier *copier, const bt_message *original);
