/* SPDX-License-Identifier: MIT */
#include "core/image.h"

#include "core/image-parts.h"
#include "core/tracker-struct.h"

#include <stdlib.h>
#include <string.h>

struct ImageReader {
        ImageIo io;
        Tracker *tracker; /* borrowed */
        Trace *trace;     /* borrowed: that items are of now; or NULL */
        Process *process; /* the same */
        bool is_over;
};

/* --- Traces -------------------------------------------------------------------------------- */

static void image_stream(ImageIo *io, TrackerStream *stream)
{
        image_field(io, stream->class_id);
        image_field(io, stream->stream_id);
        image_field(io, stream->watermark);
        image_field(io, stream->progress);
        image_field(io, stream->gap_end);
        image_field(io, stream->n_feeders);
        image_bool(io, &stream->has_ended);
        image_bool(io, &stream->is_resumed);
        image_bool(io, &stream->is_quiet);
}

static void image_trace(ImageIo *io, Trace *trace)
{
        image_field(io, trace->uuid);
        image_field(io, trace->scheme);
        image_field(io, trace->uid);
        image_text(io, &trace->hostname);
        image_text(io, &trace->boot_id);
        image_field(io, trace->clock_offset);
}

static void put_trace(ImageIo *io, Trace *trace)
{
        guint i;

        image_begin(io, IMAGE_TRACE);
        image_trace(io, trace);
        for (i = 0; i < trace->streams->len; i++) {
                image_begin(io, IMAGE_STREAM);
                image_stream(io, trace->streams->pdata[i]);
        }
        for (i = 0; i < trace->gaps->len; i++) {
                image_begin(io, IMAGE_GAP);
                image_field(io, g_array_index(trace->gaps, Gap, i));
        }
}

static void get_trace(ImageReader *reader)
{
        Trace *trace = g_new0(Trace, 1);

        image_trace(&reader->io, trace);
        if (!trace->hostname || !trace->boot_id || trace->scheme >= _BUFFER_SCHEME_MAX)
                image_refuse(&reader->io);
        trace->streams = g_ptr_array_new_with_free_func(g_free);
        trace->gaps = g_array_new(FALSE, FALSE, sizeof(Gap));
        g_ptr_array_add(reader->tracker->traces, trace);
        reader->trace = trace;
}

static void get_stream(ImageReader *reader)
{
        TrackerStream *stream = g_new0(TrackerStream, 1);

        image_stream(&reader->io, stream);
        stream->trace = reader->trace;
        g_ptr_array_add(reader->trace->streams, stream);
}

static void get_gap(ImageReader *reader)
{
        Gap gap;

        image_field(&reader->io, gap);
        g_array_append_val(reader->trace->gaps, gap);
}

static uint32_t trace_number(const Tracker *tracker, const Trace *trace)
{
        guint i;

        for (i = 0; i < tracker->traces->len; i++)
                if (tracker->traces->pdata[i] == trace)
                        return i;
        return UINT32_MAX;
}

static Trace *trace_by_number(const Tracker *tracker, uint32_t number)
{
        return number < tracker->traces->len ? tracker->traces->pdata[number] : NULL;
}

/* --- Processes ----------------------------------------------------------------------------- */

static void image_process(ImageIo *io, Process *process, bool *is_newest)
{
        image_field(io, process->key.pid_ns);
        image_field(io, process->key.pid);
        image_field(io, process->generation);
        image_field(io, process->serial);
        image_bool(io, &process->has_uid);
        image_field(io, process->uid);
        image_bool(io, &process->is_from_start);
        image_field(io, process->begin);
        image_field(io, process->last);
        image_field(io, process->exit);
        image_field(io, process->rundown_begin);
        image_field(io, process->refused_since);
        image_text(io, &process->runtime_version);
        image_text(io, &process->runtime_path);
        image_text(io, &process->command);
        image_bool(io, is_newest);
}

static void put_process(ImageIo *io, const Tracker *tracker, Process *process)
{
        bool is_newest = g_hash_table_lookup(tracker->newest, &process->key) == process;
        guint i;

        image_begin(io, IMAGE_PROCESS);
        image_process(io, process, &is_newest);
        for (i = 0; i < process->traces->len; i++) {
                uint32_t number = trace_number(tracker, process->traces->pdata[i]);

                image_begin(io, IMAGE_PROCESS_TRACE);
                image_field(io, number);
        }
        image_put_process(io, process);
}

static void get_process(ImageReader *reader)
{
        Tracker *tracker = reader->tracker;
        Process *process = process_new(tracker->names, &tracker->account, (ProcessKey){0}, 1, 0);
        bool is_newest;

        image_process(&reader->io, process, &is_newest);
        g_ptr_array_add(tracker->processes, process);
        if (is_newest)
                g_hash_table_replace(tracker->newest, &process->key, process);
        if (tracker->observer.body)
                codemap_set_changes(process->map, tracker->changes);
        reader->process = process;
}

static void get_process_trace(ImageReader *reader)
{
        Trace *trace;
        uint32_t number;

        image_field(&reader->io, number);
        trace = trace_by_number(reader->tracker, number);
        if (trace)
                g_ptr_array_add(reader->process->traces, trace);
        else
                image_refuse(&reader->io);
}

/* --- The tracker itself -------------------------------------------------------------------- */

static void image_tracker(ImageIo *io, Tracker *tracker, uint32_t *last_trace)
{
        image_field(io, tracker->stats);
        image_field(io, tracker->n_serials);
        image_field(io, tracker->budget.n_processes);
        image_field(io, tracker->budget.n_bodies);
        image_field(io, tracker->budget.n_il_maps);
        image_field(io, *last_trace);
}

static int compare_keys(const void *a, const void *b)
{
        const ProcessKey *x = a, *y = b;

        if (x->pid_ns != y->pid_ns)
                return x->pid_ns < y->pid_ns ? -1 : 1;
        return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static void image_key(ImageIo *io, ProcessKey *key)
{
        image_field(io, key->pid_ns);
        image_field(io, key->pid);
}

static void put_dropped(ImageIo *io, GHashTable *dropped)
{
        ProcessKey *keys = malloc((g_hash_table_size(dropped) + 1) * sizeof(*keys));
        GHashTableIter iter;
        gpointer key;
        size_t n = 0, i;

        if (!keys) {
                image_refuse(io);
                return;
        }
        g_hash_table_iter_init(&iter, dropped);
        while (g_hash_table_iter_next(&iter, &key, NULL))
                keys[n++] = *(const ProcessKey *)key;
        qsort(keys, n, sizeof(*keys), compare_keys);
        for (i = 0; i < n; i++) {
                image_begin(io, IMAGE_DROPPED);
                image_key(io, &keys[i]);
        }
        free(keys);
}

static void get_dropped(ImageReader *reader)
{
        ProcessKey key = {0};

        image_key(&reader->io, &key);
        g_hash_table_add(reader->tracker->budget.dropped, g_memdup2(&key, sizeof(key)));
}

static void put_early(ImageIo *io, Tracker *tracker)
{
        guint i;

        for (i = 0; i < tracker->early->len; i++) {
                IngestProcessGap *gap = &g_array_index(tracker->early, IngestProcessGap, i);

                image_begin(io, IMAGE_EARLY_GAP);
                image_key(io, &gap->process);
                image_field(io, gap->begin);
                image_field(io, gap->end);
        }
}

static void get_early(ImageReader *reader)
{
        IngestProcessGap gap = {0};

        image_key(&reader->io, &gap.process);
        image_field(&reader->io, gap.begin);
        image_field(&reader->io, gap.end);
        tracker_add_early(reader->tracker, &gap);
}

static void get_tracker(ImageReader *reader)
{
        Tracker *tracker = reader->tracker;
        uint32_t last_trace;

        image_tracker(&reader->io, tracker, &last_trace);
        tracker->last_trace = trace_by_number(tracker, last_trace);
        reader->is_over = true;
}

bool image_write(const Tracker *tracker, ImageTake take, void *data)
{
        ImageIo io = {.is_writing = true, .names = tracker->names, .take = take, .data = data};
        Tracker copy = *tracker; /* what the fields are taken from is not const */
        uint32_t last_trace = trace_number(tracker, tracker->last_trace);
        guint i;

        io.numbers = calloc((size_t)strtab_end(tracker->names) + 1, sizeof(*io.numbers));
        if (!io.numbers)
                return false;
        for (i = 0; i < tracker->traces->len; i++)
                put_trace(&io, tracker->traces->pdata[i]);
        for (i = 0; i < tracker->processes->len && !io.is_bad; i++)
                put_process(&io, tracker, tracker->processes->pdata[i]);
        put_dropped(&io, tracker->budget.dropped);
        put_early(&io, &copy);
        image_begin(&io, IMAGE_TRACKER);
        image_tracker(&io, &copy, &last_trace);
        if (!io.is_bad)
                io.is_bad = !take(data, io.bytes, io.n_bytes);
        g_free(io.bytes);
        free(io.numbers);
        return !io.is_bad;
}

/* --- Reading ------------------------------------------------------------------------------- */

ImageReader *image_reader_new(Tracker *tracker)
{
        ImageReader *reader = g_new0(ImageReader, 1);

        reader->tracker = tracker;
        reader->io.names = tracker->names;
        reader->io.strs = g_array_new(FALSE, FALSE, sizeof(Str));
        return reader;
}

static void get_name(ImageReader *reader)
{
        ImageIo *io = &reader->io;
        uint32_t n;
        Str str;

        image_count(io, &n, 1);
        if (io->is_bad)
                return;
        str = strtab_add(io->names, (const char *)io->at, n);
        io->at += n;
        g_array_append_val(io->strs, str);
}

static void get_item(ImageReader *reader)
{
        uint8_t tag;

        image_field(&reader->io, tag);
        switch (tag) {
        case IMAGE_NAME:
                get_name(reader);
                break;
        case IMAGE_TRACE:
                get_trace(reader);
                break;
        case IMAGE_STREAM:
        case IMAGE_GAP:
                if (!reader->trace)
                        image_refuse(&reader->io);
                else if (tag == IMAGE_STREAM)
                        get_stream(reader);
                else
                        get_gap(reader);
                break;
        case IMAGE_PROCESS:
                get_process(reader);
                break;
        case IMAGE_DROPPED:
                get_dropped(reader);
                break;
        case IMAGE_EARLY_GAP:
                get_early(reader);
                break;
        case IMAGE_TRACKER:
                get_tracker(reader);
                break;
        default:
                if (tag >= _IMAGE_TAG_MAX || !tag || !reader->process)
                        image_refuse(&reader->io);
                else if (tag == IMAGE_PROCESS_TRACE)
                        get_process_trace(reader);
                else
                        image_get_process(&reader->io, (ImageTag)tag, reader->process);
        }
}

bool image_reader_take(ImageReader *reader, const uint8_t *bytes, size_t n)
{
        reader->io.at = bytes;
        reader->io.end = bytes + n;
        while (!reader->io.is_bad && reader->io.at < reader->io.end) {
                if (reader->is_over)
                        image_refuse(&reader->io);
                else
                        get_item(reader);
        }
        return !reader->io.is_bad;
}

bool image_reader_finish(ImageReader *reader)
{
        Tracker *tracker = reader->tracker;
        bool is_whole = reader->is_over && !reader->io.is_bad;
        guint i;

        for (i = 0; i < reader->io.strs->len; i++)
                strtab_unref(tracker->names, g_array_index(reader->io.strs, Str, i));
        g_array_unref(reader->io.strs);
        /* There may be less room than there was. */
        if (is_whole)
                budget_make_room(&tracker->budget, NULL, 0);
        g_free(reader);
        return is_whole;
}
