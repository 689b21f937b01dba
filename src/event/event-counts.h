/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Event counts: for each LTTng name, the events seen by a feeder, and the results of decoding them
 */

#include "event/decode.h"
#include "event/stream.h"

/* Most names without a row in a table; further ones share EVENT_COUNTS_OTHERS. */
#define EVENT_COUNTS_MAX    1024
#define EVENT_COUNTS_OTHERS "(other events)"

/* All events of one LTTng name, over all traces. */
typedef struct EventCounts {
        char *name; /* owned */
        bool has_row;
        bool is_later; /* it has no row, but an earlier version has one */
        uint64_t n_events;
        uint64_t n_results[_DECODE_RESULT_MAX]; /* of the decoded events */
} EventCounts;

/* A table: name (of the value) -> owned EventCounts. Entries are never removed. */
GHashTable *event_counts_new(void);
/*
 * The counts of NAME, new or known. EVENT: the row that decodes it; NULL: none. IS_LATER: EVENT is
 * the row of an earlier version. Owned by the table.
 */
EventCounts *event_counts_get(GHashTable *table, const char *name, const Event *event,
                              bool is_later);
/* Calls back for each name, in alphabetical order. */
void event_counts_foreach(GHashTable *table,
                          void (*function)(const EventCounts *counts, void *data), void *data);
/* Sums. N_EVENTS: events of any kind. */
void event_counts_report(GHashTable *table, uint64_t n_events, FeederReport *ret_report);

/* Lines for people: the events that were not decoded, with reasons; nothing if all were decoded. */
void event_counts_append_errors(GHashTable *table, GString *out);
/* Lines for people: the .NET events without a row. */
void event_counts_append_unknown(GHashTable *table, GString *out);
