/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Classes: what each CTF event class is to clrsym, found out once
 *
 * The memo goes by the address of the event class. It is dropped when the trace class that owns
 * the event class dies, so an address that is used again never meets an old memo.
 */

#include "bt-source.h"

/* All events of one LTTng name, over all traces. */
typedef struct EventCounts {
        char *name; /* owned */
        bool has_row;
        uint64_t n_events;
        uint64_t n_results[_DECODE_RESULT_MAX]; /* of those that were decoded */
} EventCounts;

typedef struct EventInfo {
        bool is_wanted;                    /* to be decoded for the consumer of the classes */
        bool is_dotnet;                    /* of one of the runtime's providers */
        Layout layout;                     /* if wanted */
        EventCounts *counts;               /* if .NET; borrowed of the classes */
        Member vpid, vtid, pid_ns;         /* of the event's common context */
        const bt_trace_class *trace_class; /* borrowed: the memo's life */
} EventInfo;

typedef struct Classes Classes;

/* WANTS_SHOWN: rows that are only for people are wanted too. */
Classes *classes_new(EventUse use);
void classes_free(Classes *classes);

/* Valid until the event class dies. */
EventInfo *classes_info(Classes *classes, const bt_event_class *event_class);

/* Calls back for every .NET event seen, by name. */
void classes_foreach_counts(Classes *classes,
                            void (*function)(const EventCounts *counts, void *data), void *data);
