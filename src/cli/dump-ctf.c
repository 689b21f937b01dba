/* SPDX-License-Identifier: MIT */
#include "cli/dump-ctf.h"

#include "cli/answer-source.h"
#include "cli/output.h"
#include "ctf/error.h"
#include "ctf/reader.h"

#include <stdio.h>
#include <string.h>

/* Lines between two waits for a slow reader of the output: what is not written yet is kept. */
#define LINES_A_FLUSH 4096

/* A trace while it is dumped. */
typedef struct CtfDump {
        const DumpFilter *filter; /* borrowed */
        const char *directory;    /* borrowed */
        CtfReader *reader;        /* owned */
        GString *line;            /* owned */
        uint64_t n_lines;         /* of all events, printed or not */
} CtfDump;

static bool dump_fail(const CtfDump *dump, GError **error, const char *what)
{
        bool has_path = g_str_has_prefix(what, dump->directory);

        g_set_error(error, ANSWER_SOURCE_ERROR, 0, "%s%s%s", has_path ? "" : dump->directory,
                    has_path ? "" : ": ", what);
        return false;
}

static void dump_print(CtfDump *dump)
{
        output_bytes(dump->line->str, dump->line->len);
        g_string_truncate(dump->line, 0);
}

static bool dump_event(CtfDump *dump, CtfDataStream *stream, GError **error)
{
        const char *session = ctf_reader_trace_name(dump->reader, stream);
        g_autofree char *reason = NULL;
        CtfDecode outcome;
        Record record;

        outcome = ctf_reader_decode(dump->reader, stream, &record);
        switch (outcome) {
        case CTF_DECODE_RECORD:
                break;
        case CTF_DECODE_SKIPPED:
                return true;
        case CTF_DECODE_NO_CLOCK:
                reason = stream_clockless_reason(session);
                return dump_fail(dump, error, reason);
        case CTF_DECODE_NO_PROCESS:
                reason = stream_unattributed_reason(session, session);
                return dump_fail(dump, error, g_strdelimit(reason, "\n", ' '));
        }
        dump->n_lines++;
        dump_filter_append_record(dump->filter, dump->line, &record);
        dump_print(dump);
        return true;
}

/* Lost events may have been of any process. */
static void dump_gap(CtfDump *dump, const CtfDataStream *stream)
{
        dump->n_lines++;
        dump_filter_append_gap(dump->filter, dump->line, stream->identity->stream_id, &stream->gap);
        dump_print(dump);
}

/* Reads to the end, or until the output fails. */
static bool dump_items(CtfDump *dump, GError **error)
{
        g_autoptr(GError) reason = NULL;
        CtfReadResult result;
        CtfDataStream *stream;

        while ((result = ctf_reader_next(dump->reader, &stream, &reason)) == CTF_READ_ITEM) {
                switch (stream->item) {
                case CTF_ITEM_EVENT:
                        if (!dump_event(dump, stream, error))
                                return false;
                        break;
                case CTF_ITEM_DISCARDED_EVENTS:
                case CTF_ITEM_DISCARDED_PACKETS:
                        dump_gap(dump, stream);
                        break;
                default:
                        break;
                }
                if (dump->n_lines % LINES_A_FLUSH == 0 && !output_flush())
                        return false;
        }
        if (result == CTF_READ_ERROR)
                return dump_fail(dump, error, reason->message);
        return dump->n_lines || dump_fail(dump, error, DUMP_NOTHING);
}

static void dump_print_counts(const CtfDump *dump)
{
        g_autoptr(GString) lines = g_string_new(NULL);

        event_counts_append_errors(ctf_reader_counts(dump->reader), lines);
        if (!dump->filter->format) /* else it is not about all events */
                event_counts_append_unknown(ctf_reader_counts(dump->reader), lines);
        fputs(lines->str, stderr);
}

DumpResult dump_ctf(const DumpFilter *filter, const char *directory, GError **error)
{
        CtfDump dump = {.filter = filter, .directory = directory};
        g_autoptr(GError) reason = NULL;
        bool ok;

        dump.reader = ctf_reader_new(directory, EVENT_USE_ALL, &reason);
        if (!dump.reader) {
                dump_fail(&dump, error, reason->message);
                return g_error_matches(reason, CTF_ERROR, CTF_ERROR_UNSUPPORTED) ? DUMP_UNKNOWN
                                                                                 : DUMP_FAILED;
        }
        dump.line = g_string_new(NULL);
        ok = dump_items(&dump, error);
        if (ok)
                dump_print_counts(&dump);
        g_string_free(dump.line, TRUE);
        ctf_reader_free(dump.reader);
        return ok ? DUMP_DONE : DUMP_FAILED;
}
