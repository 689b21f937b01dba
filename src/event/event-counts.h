/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Event counts: how many events of each LTTng name a feeder has seen, and how they were decoded
 */

#include "event/decode.h"
#include "event/stream.h"

/* Names without a row in a table; all further ones share EVENT_COUNTS_OTHERS. */
#define EVENT_COUNTS_MAX    1024
#define EVENT_COUNTS_OTHERS "(other events)"

/* All events of one LTTng name, over all traces. */
typedef struct EventCounts {
        char *name; /* owned */
        bool has_row;
        bool is_later; /* it has none, but an earlier version has */
        uint64_t n_events;
        uint64_t n_results[_DECODE_RESULT_MAX]; /* of those that were decoded */
} EventCounts;

/* A table of them: name (of the value) -> owned EventCounts. None is ever removed. */
GHashTable *event_counts_new(void);
/*
 * The counts of NAME, new or known. EVENT: the row that it is read by; NULL: none. IS_LATER: that
 * is the row of an earlier version. They belong to the table.
 */
EventCounts *event_counts_get(GHashTable *table, const char *name, const Event *event,
                              bool is_later);
/* Calls back for each name, in alphabetical order. */
void event_counts_foreach(GHashTable *table,
                          void (*function)(const EventCounts *counts, void *data), void *data);
/* Sums. N_EVENTS: events of any kind. */
void event_counts_report(GHashTable *table, uint64_t n_events, FeederReport *ret_report);

/* Lines for people: what could not be decoded, and why; nothing if all was decoded. */
void event_counts_append_errors(GHashTable *table, GString *out);
/* Lines for people: the .NET events without a row. */
void event_counts_append_unknown(GHashTable *table, GString *out);
