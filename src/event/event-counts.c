/* SPDX-License-Identifier: MIT */
#include "event/event-counts.h"

#include <inttypes.h>
#include <string.h>

static void event_counts_free(void *data)
{
        EventCounts *counts = data;

        g_free(counts->name);
        g_free(counts);
}

GHashTable *event_counts_new(void)
{
        return g_hash_table_new_full(g_str_hash, g_str_equal, NULL, event_counts_free);
}

static EventCounts *event_counts_find(GHashTable *table, const char *name, bool has_row)
{
        EventCounts *counts = g_hash_table_lookup(table, name);

        /* A stream can have any number of unknown event names. */
        if (!counts && !has_row && g_hash_table_size(table) >= EVENT_COUNTS_MAX) {
                name = EVENT_COUNTS_OTHERS;
                counts = g_hash_table_lookup(table, name);
        }
        if (!counts) {
                counts = g_new0(EventCounts, 1);
                counts->name = g_strdup(name);
                counts->has_row = has_row;
                g_hash_table_insert(table, counts->name, counts);
        }
        return counts;
}

EventCounts *event_counts_get(GHashTable *table, const char *name, const Event *event,
                              bool is_later)
{
        EventCounts *counts = event_counts_find(table, name, event && !is_later);

        /* When the table is full, one entry counts all other names. */
        if (event && is_later)
                counts->is_later = !strcmp(counts->name, name);
        return counts;
}

static int event_counts_compare_names(const void *a, const void *b)
{
        return g_strcmp0(*(const char *const *)a, *(const char *const *)b);
}

void event_counts_foreach(GHashTable *table,
                          void (*function)(const EventCounts *counts, void *data), void *data)
{
        unsigned i, n;
        g_autofree void **names = g_hash_table_get_keys_as_array(table, &n);

        qsort(names, n, sizeof(*names), event_counts_compare_names);
        for (i = 0; i < n; i++)
                function(g_hash_table_lookup(table, names[i]), data);
}

void event_counts_report(GHashTable *table, uint64_t n_events, FeederReport *ret_report)
{
        FeederReport report = {.events = n_events};
        GHashTableIter iter;
        void *value;

        g_hash_table_iter_init(&iter, table);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                const EventCounts *counts = value;
                DecodeResult result;

                report.dotnet_events += counts->n_events;
                if (!counts->has_row)
                        report.unknown_events += counts->n_events;
                if (counts->is_later)
                        report.later_events += counts->n_events;
                for (result = DECODE_OK + 1; result < _DECODE_RESULT_MAX; result++)
                        report.decode_errors += counts->n_results[result];
        }
        *ret_report = report;
}

static void counts_append_errors(const EventCounts *counts, void *out)
{
        DecodeResult result;

        for (result = DECODE_OK + 1; result < _DECODE_RESULT_MAX; result++)
                if (counts->n_results[result])
                        g_string_append_printf(out,
                                               "clrsym: %s: %" PRIu64 " of %" PRIu64
                                               " events not decoded: %s\n",
                                               counts->name, counts->n_results[result],
                                               counts->n_events, decode_result_name(result));
}

void event_counts_append_errors(GHashTable *table, GString *out)
{
        event_counts_foreach(table, counts_append_errors, out);
}

static void counts_append_unknown(const EventCounts *counts, void *out)
{
        g_autofree char *name = NULL;

        if (counts->has_row || !counts->n_events)
                return;
        name = g_strescape(counts->name, NULL);
        g_string_append_printf(out, "clrsym: %s: %" PRIu64 " events %s\n", name, counts->n_events,
                               counts->is_later
                                       ? "of a later version than clrsym knows: only the fields "
                                         "of the earlier one are read"
                                       : "skipped: not an event that clrsym reads");
}

void event_counts_append_unknown(GHashTable *table, GString *out)
{
        event_counts_foreach(table, counts_append_unknown, out);
}
