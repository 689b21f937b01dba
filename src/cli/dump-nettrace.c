/* SPDX-License-Identifier: MIT */
#include "cli/dump-nettrace.h"

#include "cli/answer-source.h"
#include "cli/output.h"
#include "event/event-counts.h"
#include "nettrace/file.h"

#include <stdio.h>

static void dump_print(GString *line)
{
        output_bytes(line->str, line->len);
        g_string_truncate(line, 0);
}

/* Empties the reader. Returns how many events there were, printed or not. */
static uint64_t dump_items(const DumpFilter *filter, NettraceReader *reader, GString *line)
{
        NettraceItem item;
        uint64_t n = 0;
        Record record;
        StreamGap gap;

        while ((item = nettrace_reader_next(reader, &record, &gap)) != NETTRACE_ITEM_NONE) {
                n++;
                if (item == NETTRACE_ITEM_GAP)
                        dump_filter_append_gap(filter, line, 0, &gap);
                else
                        dump_filter_append_record(filter, line, &record);
                dump_print(line);
        }
        return n;
}

/* Reads to the end, or until the output fails. */
static bool dump_file(const DumpFilter *filter, NettraceFile *file, NettraceReader *reader,
                      GError **error)
{
        g_autoptr(GString) line = g_string_new(NULL);
        NettraceFileResult result;
        uint64_t n = 0;

        do {
                result = nettrace_file_push(file, reader, error);
                n += dump_items(filter, reader, line);
                if (result == NETTRACE_FILE_ERROR || !output_flush())
                        return false;
        } while (result == NETTRACE_FILE_MORE);
        if (!n)
                g_set_error_literal(error, ANSWER_SOURCE_ERROR, 0, DUMP_NOTHING);
        return n > 0;
}

static void dump_print_counts(const DumpFilter *filter, const NettraceReader *reader)
{
        g_autoptr(GString) lines = g_string_new(NULL);

        event_counts_append_errors(nettrace_reader_counts(reader), lines);
        if (!filter->format) /* else it is not about all events */
                event_counts_append_unknown(nettrace_reader_counts(reader), lines);
        fputs(lines->str, stderr);
}

bool dump_nettrace(const DumpFilter *filter, int fd, const char *path, GError **error)
{
        NettraceReader *reader = nettrace_reader_new(EVENT_USE_ALL);
        NettraceFile file = {.fd = -1};
        bool ok = nettrace_file_init(&file, fd, error) && dump_file(filter, &file, reader, error);

        if (ok)
                dump_print_counts(filter, reader);
        else
                g_prefix_error(error, "%s: ", path);
        nettrace_file_deinit(&file);
        nettrace_reader_free(reader);
        return ok;
}
