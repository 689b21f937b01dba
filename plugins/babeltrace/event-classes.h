/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Event classes: caches how clrsym reads each CTF event class
 *
 * The key is the event class's address. When its trace class is destroyed, the entry is dropped, so
 * that a reused address never finds an old entry.
 */

#include "bt-source.h"
#include "event/event-counts.h"

typedef struct EventClass {
        bool is_wanted;      /* its users want decoded events */
        bool is_dotnet;      /* an event of a runtime's provider */
        Layout layout;       /* valid if wanted */
        EventCounts *counts; /* valid for .NET events; borrowed from the event classes */
        Member vpid, vtid, pid_ns, procname; /* of the event's common context */
        const bt_trace_class *trace_class;   /* borrowed: the entry exists as long as it */
} EventClass;

typedef struct EventClasses EventClasses;

/* Decodes only the rows that USE needs. */
EventClasses *event_classes_new(EventUse use);
void event_classes_free(EventClasses *classes);

/* Valid until the event class dies. */
EventClass *event_classes_get(EventClasses *classes, const bt_event_class *event_class);

/* Counts of all .NET events, as of event_counts_new(); borrowed. */
GHashTable *event_classes_counts(const EventClasses *classes);
