/* SPDX-License-Identifier: MIT */
#include "cli/dump-filter.h"

#include "event/json-record.h"

void dump_filter_init(DumpFilter *filter, const Options *options)
{
        *filter = (DumpFilter){.options = options};
        if (options->event) {
                g_autofree char *text = g_utf8_make_valid(options->event, -1);

                filter->pattern = g_pattern_spec_new(text);
        }
}

void dump_filter_deinit(DumpFilter *filter)
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

bool dump_filter_has_record(const DumpFilter *filter, const Record *record)
{
        const Event *event = record->event;

        return dump_filter_has_event(filter, provider_name(event->provider), event->name) &&
               dump_filter_has_process(filter, record->process.pid_ns, record->process.pid);
}

void dump_filter_append_record(const DumpFilter *filter, GString *out, const Record *record)
{
        if (!dump_filter_has_record(filter, record))
                return;
        if (filter->format)
                filter->format->append_record(filter->format->userdata, out, record);
        else
                json_append_record(out, record);
}

void dump_filter_append_gap(const DumpFilter *filter, GString *out, uint64_t stream_id,
                            const StreamGap *gap)
{
        if (!dump_filter_has_event(filter, "", gap_kind_name(gap->kind)))
                return;
        if (filter->format)
                filter->format->append_gap(filter->format->userdata, out, gap);
        else
                json_append_gap(out, stream_id, gap);
}
