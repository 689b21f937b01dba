/* SPDX-License-Identifier: MIT */

/*
 * clrsym dump, clrsym snapshot
 */

#include "cli/dump.h"

#include "cli/answer-source.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "event/json-record.h"
#include "reader/event-reader.h"

#include <stdio.h>

static void dump_filter_init(DumpFilter *filter, const Options *options)
{
        *filter = (DumpFilter){.options = options};
        if (options->event) {
                g_autofree char *text = g_utf8_make_valid(options->event, -1);

                filter->pattern = g_pattern_spec_new(text);
        }
}

static void dump_filter_deinit(DumpFilter *filter)
{
        g_clear_pointer(&filter->pattern, g_pattern_spec_free);
}

/* GLOB matches "NAME" or "PROVIDER:NAME"; the provider of lost events is "". */
static bool dump_filter_has_event(const DumpFilter *filter, const char *provider, const char *event)
{
        g_autofree char *whole = NULL;

        if (!filter->pattern || g_pattern_spec_match_string(filter->pattern, event))
                return true;
        whole = g_strconcat(provider, ":", event, NULL);
        return g_pattern_spec_match_string(filter->pattern, whole);
}

static bool dump_filter_has_process(const DumpFilter *filter, uint64_t pid_ns, int64_t pid)
{
        const ProcessName *process = &filter->options->process;

        return !options_has(filter->options, OPTION_PID) ||
               (pid == process->pid && (!process->has_pid_ns || pid_ns == process->pid_ns));
}

/* True if FILTER accepts the event and the process of RECORD. */
static bool dump_filter_has_record(const DumpFilter *filter, const Record *record)
{
        const Event *event = record->event;

        return dump_filter_has_event(filter, provider_name(event->provider), event->name) &&
               dump_filter_has_process(filter, record->process.pid_ns, record->process.pid);
}

/* Appends the event or the loss to OUT, if FILTER accepts it. */
static void dump_filter_append_record(const DumpFilter *filter, GString *out, const Record *record)
{
        if (!dump_filter_has_record(filter, record))
                return;
        if (filter->format)
                filter->format->append_record(filter->format->userdata, out, record);
        else
                json_append_record(out, record);
}

static void dump_filter_append_gap(const DumpFilter *filter, GString *out, uint64_t stream_id,
                                   const StreamGap *gap)
{
        if (!dump_filter_has_event(filter, "", gap_kind_name(gap->kind)))
                return;
        if (filter->format)
                filter->format->append_gap(filter->format->userdata, out, gap);
        else
                json_append_gap(out, stream_id, gap);
}

/* Prints the item, if FILTER accepts it. True if it is an event or a loss. */
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
                /* Write now, and wait for a slow reader: unwritten output stays in memory. */
                if (batch->result == EVENT_READ_ERROR || !output_flush())
                        return false;
        } while (batch->result == EVENT_READ_MORE);
        if (!n)
                g_set_error(error, ANSWER_SOURCE_ERROR, 0, "%s: %s", path, EVENT_READER_NOTHING);
        return n > 0;
}

static void dump_print_counts(const DumpFilter *filter, const EventReader *reader)
{
        GHashTable *counts = event_reader_counts(reader);
        g_autoptr(GString) lines = g_string_new(NULL);

        if (!counts)
                return;
        event_counts_append_errors(counts, lines);
        if (!filter->format) /* a format prints only some of the events */
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

/* The snapshot is complete when the trace has been read. */
bool verb_save(const Options *options, GError **error)
{
        AnswerSourceFlags flags =
                ANSWER_SOURCE_SAVE |
                (options_has(options, OPTION_JIT_EVENTS) ? ANSWER_SOURCE_JIT_EVENTS : 0);
        g_autoptr(AnswerSource) source = answer_source_open(options, flags, error);

        return source != NULL;
}
