/* SPDX-License-Identifier: MIT */
#include "tracker/checkpoint.h"

#include "tracker/checkpoint-parts.h"
#include "tracker/tracker-struct.h"

#include <stdlib.h>
#include <string.h>

struct CheckpointReader {
        CheckpointIo io;
        Tracker *tracker; /* borrowed */
        Trace *trace;     /* borrowed or NULL: the latest one; items belong to it */
        Process *process; /* borrowed or NULL: the latest one; items belong to it */
        bool is_over;
};

static void checkpoint_stream(CheckpointIo *io, TrackerStream *stream)
{
        uint32_t state = stream->state;

        checkpoint_u64(io, &stream->class_id);
        checkpoint_u64(io, &stream->stream_id);
        checkpoint_u64(io, &stream->watermark);
        checkpoint_u64(io, &stream->progress);
        checkpoint_u64_array(io, stream->gap_end, G_N_ELEMENTS(stream->gap_end));
        checkpoint_u32(io, &stream->n_feeders);
        checkpoint_u32(io, &state);
        if (state >= _STREAM_STATE_MAX)
                checkpoint_refuse(io);
        stream->state = state < _STREAM_STATE_MAX ? (StreamState)state : STREAM_UNFED;
}

static void checkpoint_trace(CheckpointIo *io, Trace *trace)
{
        uint32_t scheme = trace->scheme;

        checkpoint_raw(io, trace->uuid, sizeof(trace->uuid));
        checkpoint_u32(io, &scheme);
        trace->scheme = (BufferScheme)scheme;
        checkpoint_u32(io, &trace->uid);
        checkpoint_i32(io, &trace->pid);
        checkpoint_text(io, &trace->hostname);
        checkpoint_text(io, &trace->boot_id);
        checkpoint_i64(io, &trace->clock_offset);
        checkpoint_bool(io, &trace->has_unknown_past);
}

static int compare_owned_keys(const void *a, const void *b)
{
        const OwnedKey *x = a, *y = b;

        if (x->key.pid_ns != y->key.pid_ns)
                return x->key.pid_ns < y->key.pid_ns ? -1 : 1;
        if (x->key.pid != y->key.pid)
                return x->key.pid < y->key.pid ? -1 : 1;
        return x->uid < y->uid ? -1 : x->uid > y->uid;
}

static void checkpoint_key(CheckpointIo *io, ProcessKey *key)
{
        checkpoint_u64(io, &key->pid_ns);
        checkpoint_i32(io, &key->pid);
}

static void checkpoint_owned_key(CheckpointIo *io, OwnedKey *owned)
{
        checkpoint_key(io, &owned->key);
        checkpoint_u32(io, &owned->uid);
}

/* An item for each OwnedKey that is a key of TABLE, in order. */
static void checkpoint_put_owned(CheckpointIo *io, CheckpointTag tag, GHashTable *table)
{
        OwnedKey *all = malloc((g_hash_table_size(table) + 1) * sizeof(*all));
        GHashTableIter iter;
        gpointer key;
        size_t n = 0, i;

        if (!all) {
                checkpoint_refuse(io);
                return;
        }
        g_hash_table_iter_init(&iter, table);
        while (g_hash_table_iter_next(&iter, &key, NULL))
                all[n++] = *(const OwnedKey *)key;
        qsort(all, n, sizeof(*all), compare_owned_keys);
        for (i = 0; i < n; i++) {
                checkpoint_begin(io, tag);
                checkpoint_owned_key(io, &all[i]);
        }
        free(all);
}

static void checkpoint_put_owners(CheckpointIo *io, const Trace *trace)
{
        if (trace->owners)
                checkpoint_put_owned(io, CHECKPOINT_OWNER, trace->owners);
}

static void checkpoint_get_owner(CheckpointReader *reader)
{
        OwnedKey owned = {0};

        checkpoint_owned_key(&reader->io, &owned);
        trace_add_owner(reader->trace, &owned);
}

static void checkpoint_put_trace(CheckpointIo *io, Trace *trace)
{
        guint i;

        checkpoint_begin(io, CHECKPOINT_TRACE);
        checkpoint_trace(io, trace);
        for (i = 0; i < trace->streams->len; i++) {
                checkpoint_begin(io, CHECKPOINT_STREAM);
                checkpoint_stream(io, trace->streams->pdata[i]);
        }
        for (i = 0; i < trace->gaps->len; i++) {
                checkpoint_begin(io, CHECKPOINT_GAP);
                checkpoint_gap(io, &g_array_index(trace->gaps, Gap, i));
        }
        checkpoint_put_owners(io, trace);
}

static void checkpoint_get_trace(CheckpointReader *reader)
{
        Trace head = {0};

        checkpoint_trace(&reader->io, &head);
        if (!head.hostname || !head.boot_id || head.scheme >= _BUFFER_SCHEME_MAX)
                checkpoint_refuse(&reader->io);
        reader->trace =
                trace_restore(tracker_trace_account(reader->tracker, head.scheme, head.uid), &head);
        g_ptr_array_add(reader->tracker->traces, reader->trace);
}

static void checkpoint_get_stream(CheckpointReader *reader)
{
        TrackerStream *stream = g_new0(TrackerStream, 1);

        checkpoint_stream(&reader->io, stream);
        trace_restore_stream(reader->trace, stream);
}

static void checkpoint_get_gap(CheckpointReader *reader)
{
        Gap gap;

        checkpoint_gap(&reader->io, &gap);
        trace_add_gap(reader->trace, gap.begin, gap.end);
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

static void checkpoint_process(CheckpointIo *io, Process *process, bool *is_newest)
{
        checkpoint_u64(io, &process->key.pid_ns);
        checkpoint_i32(io, &process->key.pid);
        checkpoint_u32(io, &process->generation);
        checkpoint_u64(io, &process->serial);
        checkpoint_u32(io, &process->uid);
        checkpoint_bool(io, &process->is_from_start);
        checkpoint_bool(io, &process->was_found);
        checkpoint_bool(io, &process->has_tiering);
        checkpoint_u32(io, &process->tiering);
        checkpoint_u64(io, &process->begin);
        checkpoint_u64(io, &process->last);
        checkpoint_u64(io, &process->exit);
        checkpoint_u64(io, &process->rundown_begin);
        checkpoint_bool(io, &process->rundown_has_modules);
        checkpoint_bool(io, &process->rundown_has_jitted);
        checkpoint_u64(io, &process->edited);
        checkpoint_u64(io, &process->refused_since);
        checkpoint_text(io, &process->runtime_version);
        checkpoint_text(io, &process->runtime_path);
        checkpoint_text(io, &process->command);
        checkpoint_text(io, &process->program);
        checkpoint_bool(io, is_newest);
}

static void checkpoint_put_process_head(CheckpointIo *io, const Tracker *tracker, Process *process)
{
        bool is_newest = identities_is_newest(&tracker->identities, process);
        guint i;

        checkpoint_begin(io, CHECKPOINT_PROCESS);
        checkpoint_process(io, process, &is_newest);
        for (i = 0; i < process->traces->len; i++) {
                uint32_t number = trace_number(tracker, process->traces->pdata[i]);

                checkpoint_begin(io, CHECKPOINT_PROCESS_TRACE);
                checkpoint_u32(io, &number);
        }
        checkpoint_put_process(io, process);
}

static void checkpoint_get_process_head(CheckpointReader *reader)
{
        Tracker *tracker = reader->tracker;
        Process head = {0}, *process;
        bool is_newest;

        checkpoint_process(&reader->io, &head, &is_newest);
        process = process_new(tracker->names, owners_account(&tracker->owners, head.uid), head.key,
                              head.generation, head.begin);
        process_restore_head(process, &head);
        reader->io.account = process->account;
        g_ptr_array_add(tracker->processes, process);
        tracker_note_range(tracker, process->begin, process->last);
        identities_add(&tracker->identities, process, is_newest);
        if (tracker->observer.body)
                codemap_set_changes(process->map, tracker->changes);
        reader->process = process;
}

static void checkpoint_get_process_trace(CheckpointReader *reader)
{
        Trace *trace;
        uint32_t number;

        checkpoint_u32(&reader->io, &number);
        trace = trace_by_number(reader->tracker, number);
        if (trace)
                process_add_trace(reader->process, trace);
        else
                checkpoint_refuse(&reader->io);
}

static void checkpoint_stats(CheckpointIo *io, TrackerStats *stats)
{
        checkpoint_u64_array(io, stats->records, G_N_ELEMENTS(stats->records));
        checkpoint_u64(io, &stats->known);
        checkpoint_u64(io, &stats->impossible);
        checkpoint_u64(io, &stats->refused);
        checkpoint_u64(io, &stats->forged);
        checkpoint_u64(io, &stats->gaps);
        checkpoint_u64(io, &stats->discarded_events);
        checkpoint_u64(io, &stats->discarded_packets);
}

static void checkpoint_tracker(CheckpointIo *io, Tracker *tracker, uint32_t *last_trace)
{
        checkpoint_stats(io, &tracker->stats);
        checkpoint_u64(io, &tracker->n_serials);
        checkpoint_u64(io, &tracker->budget.n_processes);
        checkpoint_u64(io, &tracker->budget.n_bodies);
        checkpoint_u64(io, &tracker->budget.n_il_maps);
        checkpoint_bool(io, &tracker->has_dropped_idle);
        checkpoint_u32(io, last_trace);
}

static void checkpoint_put_dropped(CheckpointIo *io, GHashTable *dropped)
{
        checkpoint_put_owned(io, CHECKPOINT_DROPPED, dropped);
}

static void checkpoint_get_dropped(CheckpointReader *reader)
{
        OwnedKey owned = {0};

        checkpoint_owned_key(&reader->io, &owned);
        g_hash_table_add(reader->tracker->budget.dropped, g_memdup2(&owned, sizeof(owned)));
}

static void checkpoint_pending_gap(CheckpointIo *io, PendingGap *pending)
{
        checkpoint_key(io, &pending->gap.process);
        checkpoint_u64(io, &pending->gap.begin);
        checkpoint_u64(io, &pending->gap.end);
        checkpoint_u32(io, &pending->uid);
}

static void checkpoint_put_pending_gaps(CheckpointIo *io, Tracker *tracker)
{
        guint i;

        for (i = 0; i < tracker->pending_gaps->len; i++) {
                PendingGap *pending = &g_array_index(tracker->pending_gaps, PendingGap, i);

                checkpoint_begin(io, CHECKPOINT_PENDING_GAP);
                checkpoint_pending_gap(io, pending);
        }
}

static void checkpoint_get_pending_gap(CheckpointReader *reader)
{
        PendingGap pending = {0};

        checkpoint_pending_gap(&reader->io, &pending);
        tracker_add_pending_gap(reader->tracker, &pending);
}

static void checkpoint_get_tracker(CheckpointReader *reader)
{
        Tracker *tracker = reader->tracker;
        uint32_t last_trace;

        checkpoint_tracker(&reader->io, tracker, &last_trace);
        tracker->last_trace = trace_by_number(tracker, last_trace);
        reader->is_over = true;
}

bool checkpoint_write(const Tracker *tracker, CheckpointTake take, void *data)
{
        CheckpointIo io = {.is_writing = true, .names = tracker->names, .take = take, .data = data};
        Tracker copy = *tracker; /* not const, because the same functions read the fields */
        uint32_t last_trace = trace_number(tracker, tracker->last_trace);
        guint i;

        io.numbers = calloc((size_t)strtab_end(tracker->names) + 1, sizeof(*io.numbers));
        if (!io.numbers)
                return false;
        for (i = 0; i < tracker->traces->len; i++)
                checkpoint_put_trace(&io, tracker->traces->pdata[i]);
        for (i = 0; i < tracker->processes->len && !io.is_bad; i++)
                checkpoint_put_process_head(&io, tracker, tracker->processes->pdata[i]);
        checkpoint_put_dropped(&io, tracker->budget.dropped);
        checkpoint_put_pending_gaps(&io, &copy);
        checkpoint_begin(&io, CHECKPOINT_TRACKER);
        checkpoint_tracker(&io, &copy, &last_trace);
        if (!io.is_bad)
                io.is_bad = !take(data, io.bytes, io.n_bytes);
        g_free(io.bytes);
        free(io.numbers);
        return !io.is_bad;
}

CheckpointReader *checkpoint_reader_new(Tracker *tracker)
{
        CheckpointReader *reader = g_new0(CheckpointReader, 1);

        reader->tracker = tracker;
        reader->io.names = tracker->names;
        reader->io.account = &tracker->account;
        reader->io.strs = g_array_new(FALSE, FALSE, sizeof(Str));
        return reader;
}

static void checkpoint_get_name(CheckpointReader *reader)
{
        CheckpointIo *io = &reader->io;
        uint32_t n;
        Str str;

        checkpoint_count(io, &n, 1);
        if (io->is_bad)
                return;
        if (!g_utf8_validate_len((const char *)io->at, n, NULL)) {
                checkpoint_refuse(io);
                return;
        }
        str = strtab_add_for(io->names, io->account, (const char *)io->at, n);
        io->at += n;
        g_array_append_val(io->strs, str);
}

/* The bodies of a process are linked, and checked, when its code map comes. */
static void checkpoint_refuse_unfinished(CheckpointReader *reader)
{
        if (reader->process)
                checkpoint_refuse(&reader->io);
}

static void checkpoint_get_item(CheckpointReader *reader)
{
        uint8_t tag;

        checkpoint_u8(&reader->io, &tag);
        switch (tag) {
        case CHECKPOINT_NAME:
                checkpoint_get_name(reader);
                break;
        case CHECKPOINT_TRACE:
                checkpoint_get_trace(reader);
                break;
        case CHECKPOINT_STREAM:
        case CHECKPOINT_GAP:
        case CHECKPOINT_OWNER:
                if (!reader->trace)
                        checkpoint_refuse(&reader->io);
                else if (tag == CHECKPOINT_STREAM)
                        checkpoint_get_stream(reader);
                else if (tag == CHECKPOINT_OWNER)
                        checkpoint_get_owner(reader);
                else
                        checkpoint_get_gap(reader);
                break;
        case CHECKPOINT_PROCESS:
                checkpoint_refuse_unfinished(reader);
                checkpoint_get_process_head(reader);
                break;
        case CHECKPOINT_DROPPED:
                checkpoint_get_dropped(reader);
                break;
        case CHECKPOINT_PENDING_GAP:
                checkpoint_get_pending_gap(reader);
                break;
        case CHECKPOINT_TRACKER:
                checkpoint_refuse_unfinished(reader);
                checkpoint_get_tracker(reader);
                break;
        default:
                if (tag >= _CHECKPOINT_TAG_MAX || !tag || !reader->process)
                        checkpoint_refuse(&reader->io);
                else if (tag == CHECKPOINT_PROCESS_TRACE)
                        checkpoint_get_process_trace(reader);
                else
                        checkpoint_get_process(&reader->io, (CheckpointTag)tag, reader->process);
                if (tag == CHECKPOINT_CODE_MAP)
                        reader->process = NULL;
        }
}

bool checkpoint_reader_take(CheckpointReader *reader, const uint8_t *bytes, size_t n)
{
        reader->io.at = bytes;
        reader->io.end = bytes + n;
        while (!reader->io.is_bad && reader->io.at < reader->io.end) {
                if (reader->is_over)
                        checkpoint_refuse(&reader->io);
                else
                        checkpoint_get_item(reader);
        }
        return !reader->io.is_bad;
}

bool checkpoint_reader_finish(CheckpointReader *reader)
{
        Tracker *tracker = reader->tracker;
        bool is_whole = reader->is_over && !reader->io.is_bad;
        guint i;

        for (i = 0; i < reader->io.strs->len; i++)
                strtab_unref(tracker->names, g_array_index(reader->io.strs, Str, i));
        g_array_unref(reader->io.strs);
        /* The budget may be smaller than the writer's. */
        if (is_whole)
                budget_enforce(&tracker->budget);
        g_free(reader);
        return is_whole;
}
