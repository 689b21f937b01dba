/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Event classes: how clrsym reads each CTF event class, looked up once
 *
 * The memo goes by the address of the event class. It is dropped when the trace class that owns
 * the event class dies, so that a reused address never finds an old memo.
 */

#include "bt-source.h"
#include "event/event-counts.h"

typedef struct EventClass {
        bool is_wanted;                      /* to be decoded for the consumer of the classes */
        bool is_dotnet;                      /* of one of the runtime's providers */
        Layout layout;                       /* if wanted */
        EventCounts *counts;                 /* if .NET; borrowed from the event classes */
        Member vpid, vtid, pid_ns, procname; /* of the event's common context */
        const bt_trace_class *trace_class;   /* borrowed: the memo's life */
} EventClass;

typedef struct EventClasses EventClasses;

/* Only rows that USE needs are decoded. */
EventClasses *event_classes_new(EventUse use);
void event_classes_free(EventClasses *classes);

/* Valid until the event class dies. */
EventClass *event_classes_get(EventClasses *classes, const bt_event_class *event_class);

/* A table of event_counts_new(), of all .NET events seen; borrowed. */
GHashTable *event_classes_counts(const EventClasses *classes);
