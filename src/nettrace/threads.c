/* SPDX-License-Identifier: MIT */
#include "nettrace/threads.h"

#include "event/stream.h"
#include "util/hash.h"

/* Kinds of information about a thread in a block of version 6. */
typedef enum ThreadInfo {
        THREAD_NAME = 1,
        THREAD_PROCESS_ID = 2,
        THREAD_THREAD_ID = 3,
        THREAD_KEY_VALUE = 4,
} ThreadInfo;

struct CaptureThread {
        uint64_t id;       /* first: the key */
        uint64_t time;     /* of its last event, ns; before the first: of the session's begin */
        uint64_t point;    /* number of the last sequence point that listed it */
        uint32_t sequence; /* of its last event; 0: none */
};

static guint id_hash(gconstpointer id)
{
        return (guint)(hash_u64(*(const uint64_t *)id) >> 32);
}

static gboolean id_equal(gconstpointer a, gconstpointer b)
{
        return *(const uint64_t *)a == *(const uint64_t *)b;
}

void nettrace_threads_init(NettraceThreads *threads)
{
        *threads = (NettraceThreads){
                .capture = g_hash_table_new_full(id_hash, id_equal, NULL, g_free),
                .indexes = g_hash_table_new_full(id_hash, id_equal, NULL, g_free),
        };
}

void nettrace_threads_deinit(NettraceThreads *threads)
{
        g_hash_table_destroy(threads->capture);
        g_hash_table_destroy(threads->indexes);
}

/* The thread's entry, made if there is none; NULL: there are too many. */
static CaptureThread *threads_capture(NettraceThreads *threads, uint64_t id)
{
        CaptureThread *thread = threads->last;

        if (thread && thread->id == id)
                return thread;
        thread = g_hash_table_lookup(threads->capture, &id);
        if (!thread) {
                if (g_hash_table_size(threads->capture) >= NETTRACE_MAX_THREADS)
                        return NULL;
                thread = g_new0(CaptureThread, 1);
                thread->id = id;
                thread->time = threads->begin;
                g_hash_table_insert(threads->capture, &thread->id, thread);
        }
        threads->last = thread;
        return thread;
}

NettraceCount nettrace_threads_count(NettraceThreads *threads, uint64_t capture_thread,
                                     uint32_t sequence, uint64_t time, NettraceLoss *ret_loss)
{
        CaptureThread *thread = threads_capture(threads, capture_thread);
        NettraceLoss loss;
        int32_t n_new;

        if (!thread)
                return NETTRACE_COUNT_TOO_MANY;
        n_new = (int32_t)(sequence - thread->sequence);
        loss = (NettraceLoss){MIN(thread->time, time), time,
                              /* No rule explains a number that does not grow. */
                              n_new > 0 ? (uint64_t)n_new - 1 : GAP_COUNT_UNKNOWN};
        thread->sequence = sequence;
        thread->time = time;
        if (n_new == 1)
                return NETTRACE_COUNT_WHOLE;
        *ret_loss = loss;
        return NETTRACE_COUNT_LOSS;
}

void nettrace_threads_begin_point(NettraceThreads *threads)
{
        threads->n_points++;
}

NettraceCount nettrace_threads_check(NettraceThreads *threads, uint64_t capture_thread,
                                     uint32_t sequence, uint64_t time, NettraceLoss *ret_loss)
{
        CaptureThread *thread = threads_capture(threads, capture_thread);
        int32_t n_lost;

        if (!thread)
                return NETTRACE_COUNT_TOO_MANY;
        thread->point = threads->n_points;
        n_lost = (int32_t)(sequence - thread->sequence);
        if (n_lost <= 0)
                return NETTRACE_COUNT_WHOLE;
        *ret_loss = (NettraceLoss){MIN(thread->time, time), time, (uint64_t)n_lost};
        /* The number is a lower bound: the next loss may be from before TIME. */
        thread->sequence = sequence;
        return NETTRACE_COUNT_LOSS;
}

static gboolean thread_is_over(gpointer id, gpointer thread, gpointer threads)
{
        return ((const CaptureThread *)thread)->point !=
               ((const NettraceThreads *)threads)->n_points;
}

void nettrace_threads_end_point(NettraceThreads *threads)
{
        threads->last = NULL;
        g_hash_table_foreach_remove(threads->capture, thread_is_over, threads);
}

void nettrace_threads_remove(NettraceThreads *threads, uint64_t thread)
{
        threads->last = NULL;
        g_hash_table_remove(threads->capture, &thread);
        g_hash_table_remove(threads->indexes, &thread);
}

void nettrace_threads_clear(NettraceThreads *threads)
{
        threads->last = NULL;
        g_hash_table_remove_all(threads->capture);
        g_hash_table_remove_all(threads->indexes);
}

static int32_t thread_id(uint64_t id)
{
        return id <= INT32_MAX ? (int32_t)id : 0;
}

static void thread_take_info(NettraceThread *thread, NettraceCursor *cursor)
{
        ThreadInfo info = (ThreadInfo)nettrace_number(cursor, 1);

        switch (info) {
        case THREAD_PROCESS_ID:
                thread->pid = thread_id(nettrace_varint(cursor));
                break;
        case THREAD_THREAD_ID:
                thread->tid = thread_id(nettrace_varint(cursor));
                break;
        case THREAD_KEY_VALUE:
                nettrace_bytes(cursor, nettrace_varint32(cursor));
                nettrace_bytes(cursor, nettrace_varint32(cursor));
                break;
        case THREAD_NAME:
                nettrace_bytes(cursor, nettrace_varint32(cursor));
                break;
        default: /* unknown, and without a size */
                cursor->at = cursor->end;
                break;
        }
}

bool nettrace_threads_describe(NettraceThreads *threads, NettraceCursor cursor)
{
        while (nettrace_left(&cursor)) {
                uint16_t n = nettrace_u16(&cursor);
                const uint8_t *bytes = nettrace_bytes(&cursor, n);
                NettraceThread *thread;
                NettraceCursor row;

                if (!bytes || g_hash_table_size(threads->indexes) >= NETTRACE_MAX_THREADS)
                        return false;
                row = nettrace_cursor(bytes, n);
                thread = g_new0(NettraceThread, 1);
                thread->index = nettrace_varint(&row);
                while (nettrace_left(&row))
                        thread_take_info(thread, &row);
                g_hash_table_replace(threads->indexes, &thread->index, thread);
                if (row.is_short)
                        return false;
        }
        return !cursor.is_short;
}

const NettraceThread *nettrace_threads_get(const NettraceThreads *threads, uint64_t index)
{
        return g_hash_table_lookup(threads->indexes, &index);
}
