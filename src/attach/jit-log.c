/* SPDX-License-Identifier: MIT */
#include "attach/jit-log.h"

#include "attach/target-log.h"

#include <glib.h>
#include <string.h>

/* Maximum number of unfinished compilations of one thread; a larger one is not real. */
#define MAX_NESTED 64

/* Maximum number of threads that compile; a larger one is not real. */
#define MAX_THREADS 1024

typedef struct JitBegun {
        uint64_t method_id;
        uint64_t time;
} JitBegun;

typedef struct JitThread {
        JitBegun begun[MAX_NESTED]; /* the innermost last */
        unsigned n;
} JitThread;

struct JitLog {
        TargetLog *file;        /* owned */
        TargetThreads *numbers; /* borrowed */
        GHashTable *threads;    /* tid -> owned JitThread, of those that compile */
};

JitLog *jit_log_open(const char *path, TargetThreads *threads)
{
        TargetLog *file = target_log_open(path, JIT_LOG_DIRECTORY, JIT_LOG_MAX_BYTES);
        JitLog *log;

        if (!file)
                return NULL;
        log = g_new0(JitLog, 1);
        log->file = file;
        log->numbers = threads;
        log->threads = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free);
        return log;
}

void jit_log_close(JitLog *log)
{
        if (!log)
                return;
        target_log_close(log->file);
        g_hash_table_unref(log->threads);
        g_free(log);
}

void jit_log_flush(JitLog *log)
{
        if (log)
                target_log_flush(log->file);
}

static JitThread *jit_log_thread(JitLog *log, int32_t tid)
{
        JitThread *thread = g_hash_table_lookup(log->threads, GINT_TO_POINTER(tid));

        if (!thread) {
                if (g_hash_table_size(log->threads) >= MAX_THREADS)
                        g_hash_table_remove_all(log->threads);
                thread = g_new0(JitThread, 1);
                g_hash_table_insert(log->threads, GINT_TO_POINTER(tid), thread);
        }
        return thread;
}

static void jit_log_begin(JitThread *thread, const Record *record)
{
        /* Drops the outermost compilation, whose end was lost. */
        if (thread->n == MAX_NESTED)
                memmove(thread->begun, thread->begun + 1, --thread->n * sizeof(*thread->begun));
        thread->begun[thread->n++] = (JitBegun){record_u64(record, FIELD_MethodID), record->time};
}

static void jit_log_write(JitLog *log, const JitLogEntry *entry)
{
        if (target_log_write(log->file, entry, sizeof(*entry)))
                g_warning(
                        "process %d compiled more methods than its log has room for: the method is "
                        "not shown for later samples in the JIT",
                        (int)target_threads_pid(log->numbers));
}

/* Drops unfinished compilations that began after RECORD's. */
static void jit_log_end(JitLog *log, JitThread *thread, const Record *record)
{
        const uint64_t method_id = record_u64(record, FIELD_MethodID);
        unsigned i = thread->n;

        while (i > 0 && thread->begun[i - 1].method_id != method_id)
                i--;
        if (i > 0) {
                const JitLogEntry entry = {.begin = thread->begun[i - 1].time,
                                           .end = record->time,
                                           .address = record_u64(record, FIELD_MethodStartAddress),
                                           .tid = target_threads_find(log->numbers, record->tid),
                                           .pid = target_threads_pid(log->numbers)};

                jit_log_write(log, &entry);
                thread->n = i - 1;
        }
}

void jit_log_take(JitLog *log, const Record *record)
{
        JitThread *thread;

        if (!log || !record->tid)
                return;
        if (record->event->kind == EVENT_KIND_JITTING_STARTED) {
                jit_log_begin(jit_log_thread(log, record->tid), record);
                return;
        }
        thread = g_hash_table_lookup(log->threads, GINT_TO_POINTER(record->tid));
        if (!thread || record->event->kind != EVENT_KIND_METHOD_LOAD)
                return;
        jit_log_end(log, thread, record);
        if (!thread->n)
                g_hash_table_remove(log->threads, GINT_TO_POINTER(record->tid));
}
