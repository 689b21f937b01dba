/* SPDX-License-Identifier: MIT */
#include "attach/collection-log.h"

#include "attach/async-log.h"
#include "attach/target-log.h"
#include "nettrace/reader.h"

#include <string.h>

/* Bytes of events that wait for an older event; a collection has some hundred. */
#define MAX_QUEUED (1u << 20)
/* Open collections: at most one in the background, and one beside it. Open pauses: one thread at
 * most pauses a program. Larger numbers are not real. */
#define MAX_BEGUN 16

/* Reasons of GCSuspendEEBegin: a collection, and preparing one. */
enum { SUSPEND_FOR_GC = 1, SUSPEND_FOR_GC_PREPARATION = 6 };

typedef struct CollectionBegun {
        CollectionLogEntry entry; /* with the thread as the event has it */
        uint32_t number;          /* of a collection; 0 for a pause */
        bool is_told;             /* the log has an entry without an end */
} CollectionBegun;

/* The newest last. */
typedef struct CollectionsBegun {
        CollectionBegun rows[MAX_BEGUN];
        unsigned n;
} CollectionsBegun;

struct CollectionLog {
        TargetLog *file;        /* owned; NULL: collections are not wanted */
        AsyncLog *async;        /* owned; NULL: async events are not wanted */
        NettraceReader *reader; /* owned; NULL: the stream is damaged */
        bool has_async;
        uint64_t flushed;    /* ns: all async events before have come; 0: no flush is pending */
        uint64_t flushed_by; /* ns: all of those events were written before */
        EventPipeSink sink;
        TargetThreads *threads; /* borrowed */
        CollectionsBegun collections, pauses;
        const Event *gc_start, *gc_end, *suspend, *restart,
                *async_events; /* rows of the event table */
};

static void collection_log_write(CollectionLog *log, const CollectionBegun *row, uint64_t end)
{
        CollectionLogEntry entry = row->entry;

        entry.end = end;
        entry.tid = target_threads_find(log->threads, entry.tid);
        entry.pid = target_threads_pid(log->threads);
        if (log->file && (end > entry.begin || row->is_told))
                target_log_write(log->file, &entry, sizeof(entry));
}

/* Takes number I out, which is written with END; 0: its end did not come. */
static void collections_end(CollectionLog *log, CollectionsBegun *begun, unsigned i, uint64_t end)
{
        CollectionBegun *row = &begun->rows[i];

        collection_log_write(log, row, MAX(end, row->entry.begin));
        begun->n--;
        memmove(row, row + 1, (begun->n - i) * sizeof(*row));
}

static void collections_begin(CollectionLog *log, CollectionsBegun *begun,
                              const CollectionLogEntry *entry, uint32_t number)
{
        unsigned i;

        for (i = begun->n; i > 0; i--)
                if (collection_log_excludes(entry, &begun->rows[i - 1].entry))
                        collections_end(log, begun, i - 1, 0);
        if (begun->n == MAX_BEGUN)
                collections_end(log, begun, 0, 0);
        begun->rows[begun->n++] = (CollectionBegun){.entry = *entry, .number = number};
}

/* Their ends may not come. */
static void collections_give_up(CollectionLog *log, CollectionsBegun *begun)
{
        while (begun->n > 0)
                collections_end(log, begun, begun->n - 1, 0);
}

/* Tells the reader of those that go on. */
static void collections_tell(CollectionLog *log, CollectionsBegun *begun)
{
        unsigned i;

        for (i = 0; i < begun->n; i++) {
                if (!begun->rows[i].is_told)
                        collection_log_write(log, &begun->rows[i], COLLECTION_LOG_OPEN);
                begun->rows[i].is_told = true;
        }
}

static void collection_log_end_collection(CollectionLog *log, const Record *record)
{
        const uint32_t number = (uint32_t)record_u64(record, FIELD_Count);
        unsigned i = log->collections.n;

        while (i > 0 && log->collections.rows[i - 1].number != number)
                i--;
        if (i > 0)
                collections_end(log, &log->collections, i - 1, record->time);
}

static void collection_log_end_pause(CollectionLog *log, const Record *record)
{
        unsigned i = log->pauses.n;

        while (i > 0 && log->pauses.rows[i - 1].entry.tid != record->tid)
                i--;
        if (i > 0)
                collections_end(log, &log->pauses, i - 1, record->time);
}

void collection_log_take(CollectionLog *log, const Record *record)
{
        CollectionLogEntry entry = {.begin = record->time, .tid = record->tid};
        const uint64_t reason = record_u64(record, FIELD_Reason);

        if (record->event == log->gc_start) {
                entry.kind = COLLECTION_LOG_COLLECTION;
                entry.generation = (uint32_t)record_u64(record, FIELD_Depth);
                entry.reason = (uint32_t)reason;
                entry.type = (uint32_t)record_u64(record, FIELD_Type);
                collections_begin(log, &log->collections, &entry,
                                  (uint32_t)record_u64(record, FIELD_Count));
        } else if (record->event == log->gc_end) {
                collection_log_end_collection(log, record);
        } else if (record->event == log->suspend &&
                   (reason == SUSPEND_FOR_GC || reason == SUSPEND_FOR_GC_PREPARATION)) {
                entry.kind = COLLECTION_LOG_PAUSE;
                collections_begin(log, &log->pauses, &entry, 0);
        } else if (record->event == log->restart) {
                collection_log_end_pause(log, record);
        } else if (record->event == log->async_events) {
                const Value *data = record_value(record, FIELD_Data);

                log->has_async = true;
                async_log_add(log->async, ASYNC_LOG_BUFFER, data->data, data->n);
        }
}

static void collection_log_take_all(CollectionLog *log)
{
        NettraceItem item;
        StreamGap gap;
        Record record;

        while ((item = nettrace_reader_next(log->reader, &record, &gap)) != NETTRACE_ITEM_NONE)
                if (item == NETTRACE_ITEM_RECORD) {
                        collection_log_take(log, &record);
                } else if (item == NETTRACE_ITEM_GAP) {
                        async_log_add(log->async, ASYNC_LOG_GAP, NULL, 0);
                        /* The end of a pause may be missing, and the program runs. */
                        collections_give_up(log, &log->pauses);
                }
}

void collection_log_flush(CollectionLog *log)
{
        collections_tell(log, &log->collections);
        collections_tell(log, &log->pauses);
        target_log_flush(log->file);
}

/* The reader holds events back until no older event can come. */
static void collection_log_end_flush(CollectionLog *log)
{
        if (log->flushed && nettrace_reader_horizon(log->reader) >= log->flushed_by) {
                async_log_add_flushed(log->async, log->flushed);
                log->flushed = 0;
        }
        async_log_flush(log->async);
}

static void collection_log_push(void *data, const uint8_t *bytes, size_t n)
{
        CollectionLog *log = data;

        if (!log->reader)
                return;
        if (!nettrace_reader_push(log->reader, bytes, n, /* error= */ NULL)) {
                g_clear_pointer(&log->reader, nettrace_reader_free);
                collections_give_up(log, &log->collections);
                collections_give_up(log, &log->pauses);
                target_log_flush(log->file);
                return;
        }
        collection_log_take_all(log);
        collection_log_flush(log);
        collection_log_end_flush(log);
}

CollectionLog *collection_log_open(const char *path, TargetThreads *threads, int64_t clock_ahead)
{
        TargetLog *file = target_log_open(path, COLLECTION_LOG_DIRECTORY, COLLECTION_LOG_MAX_BYTES);
        AsyncLog *async = async_log_open(path, threads, clock_ahead);
        CollectionLog *log;

        if (!file && !async)
                return NULL;
        log = g_new0(CollectionLog, 1);
        log->file = file;
        log->async = async;
        log->threads = threads;
        log->sink = (EventPipeSink){collection_log_push, log};
        log->reader = nettrace_reader_new(EVENT_USE_ALL);
        nettrace_reader_limit(log->reader, MAX_QUEUED);
        nettrace_reader_set_ahead(log->reader, clock_ahead);
        log->gc_start = event_by_name("DotNETRuntime:GCStart_V2");
        log->gc_end = event_by_name("DotNETRuntime:GCEnd_V1");
        log->suspend = event_by_name("DotNETRuntime:GCSuspendEEBegin_V1");
        log->restart = event_by_name("DotNETRuntime:GCRestartEEEnd_V1");
        log->async_events = event_by_name("AsyncProfiler:AsyncEvents");
        return log;
}

bool collection_log_wants_collections(const CollectionLog *log)
{
        return log->file != NULL;
}

bool collection_log_wants_async(const CollectionLog *log)
{
        return log->async != NULL;
}

bool collection_log_has_async(const CollectionLog *log)
{
        return log->has_async;
}

void collection_log_add_flushed(CollectionLog *log, uint64_t time, uint64_t now)
{
        log->flushed = time;
        log->flushed_by = now;
}

void collection_log_close(CollectionLog *log, bool is_complete)
{
        if (!log)
                return;
        if (log->reader) {
                nettrace_reader_finish(log->reader);
                collection_log_take_all(log);
        }
        collections_give_up(log, &log->collections);
        collections_give_up(log, &log->pauses);
        if (log->has_async)
                async_log_add(log->async,
                              log->reader && is_complete ? ASYNC_LOG_END : ASYNC_LOG_CLOSED, NULL,
                              0);
        async_log_close(log->async);
        nettrace_reader_free(log->reader);
        target_log_close(log->file);
        g_free(log);
}

const EventPipeSink *collection_log_sink(const CollectionLog *log)
{
        return &log->sink;
}
