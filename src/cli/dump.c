/* SPDX-License-Identifier: MIT */

/*
 * clrsym dump, clrsym snapshot
 */

#include "cli/dump.h"

#include "cli/answer-source.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "reader/event-reader.h"

#include <stdio.h>

/* Prints the item, if FILTER has it. True if it is an event or a loss. */
static bool dump_item(const DumpFilter *filter, GString *line, const EventItem *item)
{
        switch (item->type) {
        case EVENT_ITEM_RECORD:
                dump_filter_append_record(filter, line, &item->record);
                break;
        case EVENT_ITEM_GAP:
                dump_filter_append_gap(filter, line, item->identity->stream_id, &item->gap);
                break;
        default:
                return false;
        }
        output_bytes(line->str, line->len);
        g_string_truncate(line, 0);
        return true;
}

/* Reads to the end, or until the output fails. */
static bool dump_items(const DumpFilter *filter, EventReader *reader, const char *path,
                       GError **error)
{
        g_autoptr(GString) line = g_string_new(NULL);
        EventBatch *batch;
        uint64_t n = 0;
        size_t i;

        do {
                batch = event_reader_next(reader);
                for (i = 0; i < batch->n_items; i++)
                        n += dump_item(filter, line, &batch->items[i]);
                if (batch->result == EVENT_READ_ERROR)
                        g_propagate_error(error, g_steal_pointer(&batch->error));
                /* What is not written yet is kept: a slow reader of the output is waited for. */
                if (batch->result == EVENT_READ_ERROR || !output_flush())
                        return false;
        } while (batch->result == EVENT_READ_MORE);
        if (!n)
                g_set_error(error, ANSWER_SOURCE_ERROR, 0, "%s: %s", path, DUMP_NOTHING);
        return n > 0;
}

static void dump_print_counts(const DumpFilter *filter, const EventReader *reader)
{
        GHashTable *counts = event_reader_counts(reader);
        g_autoptr(GString) lines = g_string_new(NULL);

        if (!counts)
                return;
        event_counts_append_errors(counts, lines);
        if (!filter->format) /* else it is not about all events */
                event_counts_append_unknown(counts, lines);
        fputs(lines->str, stderr);
}

bool dump_path(const DumpFilter *filter, const char *path, GError **error)
{
        EventReader *reader = event_reader_new(path, EVENT_USE_ALL, error);
        bool ok = reader && dump_items(filter, reader, path, error);

        if (ok)
                dump_print_counts(filter, reader);
        event_reader_free(reader);
        return ok;
}

bool verb_dump(const Options *options, GError **error)
{
        DumpFilter filter;
        bool ok;

        dump_filter_init(&filter, options);
        ok = dump_path(&filter, *options->arguments, error);
        dump_filter_deinit(&filter);
        return ok;
}

/* The snapshot is complete once the trace is read. */
bool verb_save(const Options *options, GError **error)
{
        AnswerSourceFlags flags =
                ANSWER_SOURCE_SAVE |
                (options_has(options, OPTION_JIT_EVENTS) ? ANSWER_SOURCE_JIT_EVENTS : 0);
        g_autoptr(AnswerSource) source = answer_source_open(options, flags, error);

        return source != NULL;
}
