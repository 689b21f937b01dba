/* SPDX-License-Identifier: MIT */
#include "record/async-chains.h"

#include "event/async-events.h"
#include "record/async-thread.h"

#include <glib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Maximum of threads of a process. */
#define MAX_THREADS (1u << 16)
/* Frames of a chain, as many as a stack has. */
#define MAX_CHAIN 1024u
/* Maximum of known contexts of a process. Beyond it, all are forgotten. */
#define MAX_KEPT (1u << 16)
/* Of a context. */
#define MAX_SPANS 8
/* Bytes of a segment; a larger one is not written by us. */
#define MAX_SEGMENT (2 * ASYNC_LOG_SEGMENT_BYTES)
/* us between looks at a log whose events are awaited. */
#define PAUSE (50 * G_TIME_SPAN_MILLISECOND)
/* Frames of all chains from which on unused chains are removed. */
#define COMPACT_FRAMES (ASYNC_CHAINS_MAX_FRAMES / 4)

/* The states of a context up to its suspension. Times are ns of our CLOCK_MONOTONIC. */
typedef struct AsyncSpan {
        uint64_t begin, end;
        uint32_t chain, n_done;
        int32_t tid;
        unsigned depth;
} AsyncSpan;

/* A context of state machines. The buffers of its threads come in any order. */
typedef struct AsyncKept {
        uint64_t id;
        AsyncSpan spans[MAX_SPANS]; /* the last ones, in which methods may be missing */
        unsigned n_spans;
        uint64_t resumed; /* ns: time of its last resumption; 0: none was read */
        uint32_t chain;   /* since then */
} AsyncKept;

/* A log that is read. */
typedef struct AsyncReading {
        AsyncChains *chains; /* borrowed */
        char *name;          /* owned: of the log */
        uint32_t segment;    /* number of the segment that is read */
        uint64_t offset;     /* bytes of it that were read */
        AsyncLengths lengths;
        GHashTable *threads; /* owned: int32_t tid -> owned AsyncThread */
        GHashTable *kept;    /* owned: its id -> owned AsyncKept */
        unsigned n_gaps;
        int64_t clock_ahead;
        int32_t pid;
        uint64_t known; /* ns: all earlier events have been read, unless there was a gap later */
        bool is_over;   /* no more entries come */
        bool is_late;   /* the wait for its events is over */
} AsyncReading;

struct AsyncChains {
        char *directory;       /* owned */
        GHashTable *readings;  /* owned: name of the log -> owned AsyncReading */
        GHashTable *processes; /* int32_t pid -> borrowed AsyncReading */
        GArray *rows;          /* owned, of AsyncChain */
        GArray *addresses;     /* owned, of uint64_t */
        GHashTable *numbers;   /* owned AsyncKey -> number of the chain */
        uint64_t n_states;     /* of all threads */
};

typedef struct AsyncKey {
        const GArray *addresses; /* borrowed: the first and following of the row */
        AsyncChain row;
} AsyncKey;

static guint async_key_hash(gconstpointer data)
{
        const AsyncKey *key = data;
        guint64 hash = (guint64)key->row.pid * 31 + key->row.index * 2 + key->row.is_machine;
        uint32_t i;

        for (i = 0; i < key->row.n; i++)
                hash = hash * 1099511628211u +
                       g_array_index(key->addresses, uint64_t, key->row.first + i);
        return (guint)(hash ^ hash >> 32);
}

static gboolean async_key_equal(gconstpointer one, gconstpointer other)
{
        const AsyncKey *a = one, *b = other;

        return a->row.n == b->row.n && a->row.pid == b->row.pid && a->row.index == b->row.index &&
               a->row.is_machine == b->row.is_machine &&
               !memcmp(&g_array_index(a->addresses, uint64_t, a->row.first),
                       &g_array_index(b->addresses, uint64_t, b->row.first),
                       a->row.n * sizeof(uint64_t));
}

/* The number of the chain of the last N addresses, which are kept if it is new. */
static uint32_t async_chains_number(AsyncChains *chains, const AsyncChain *row)
{
        const AsyncKey key = {chains->addresses, *row};
        gpointer known;

        if (g_hash_table_lookup_extended(chains->numbers, &key, NULL, &known)) {
                g_array_set_size(chains->addresses, row->first);
                return GPOINTER_TO_UINT(known);
        }
        g_hash_table_insert(chains->numbers, g_memdup2(&key, sizeof(key)),
                            GUINT_TO_POINTER(chains->rows->len));
        g_array_append_val(chains->rows, *row);
        return chains->rows->len - 1;
}

/* The first N_BEFORE frames of the chain BEFORE, and those of STACK after them. ASYNC_NO_CHAIN:
 * they are too many. */
static uint32_t async_reading_chain(AsyncReading *reading, uint32_t before, uint32_t n_before,
                                    const AsyncStack *stack, bool is_machine)
{
        AsyncChains *chains = reading->chains;
        AsyncChain row = {.first = chains->addresses->len,
                          .n = n_before + stack->n,
                          .pid = reading->pid,
                          .index = is_machine ? 0 : (uint8_t)stack->index,
                          .is_machine = is_machine};

        if (row.n > MAX_CHAIN || row.n > ASYNC_CHAINS_MAX_FRAMES - row.first)
                return ASYNC_NO_CHAIN;
        if (n_before) {
                g_array_set_size(chains->addresses, row.first + n_before);
                memcpy(&g_array_index(chains->addresses, uint64_t, row.first),
                       async_chain_addresses(chains, async_chains_get(chains, before)),
                       n_before * sizeof(uint64_t));
        }
        g_array_append_vals(chains->addresses, stack->addresses, stack->n);
        return async_chains_number(chains, &row);
}

/* NULL: there are too many. */
static AsyncThread *async_reading_thread(AsyncReading *reading, int32_t tid)
{
        AsyncThread *thread = g_hash_table_lookup(reading->threads, GINT_TO_POINTER(tid));

        if (!thread && g_hash_table_size(reading->threads) < MAX_THREADS) {
                thread = async_thread_new(tid, reading->n_gaps);
                g_hash_table_insert(reading->threads, GINT_TO_POINTER(tid), thread);
        }
        return thread;
}

static AsyncKept *async_reading_keep(AsyncReading *reading, uint64_t id)
{
        AsyncKept *kept = g_hash_table_lookup(reading->kept, &id);

        if (kept)
                return kept;
        if (g_hash_table_size(reading->kept) >= MAX_KEPT)
                g_hash_table_remove_all(reading->kept);
        kept = g_new(AsyncKept, 1);
        *kept = (AsyncKept){.id = id, .chain = ASYNC_NO_CHAIN};
        g_hash_table_add(reading->kept, kept);
        return kept;
}

/* If CHAIN, of a later time, has all methods that are left in SPAN, and more, these had not begun
 * to await them: as if they had been appended. False: it has no more. */
static bool async_span_lengthen(AsyncReading *reading, const AsyncSpan *span, uint32_t chain)
{
        AsyncChains *chains = reading->chains;
        const AsyncChain *old = async_chains_get(chains, span->chain);
        const AsyncChain *later = async_chains_get(chains, chain);
        const uint64_t *addresses = async_chain_addresses(chains, later);
        AsyncThread *thread = g_hash_table_lookup(reading->threads, GINT_TO_POINTER(span->tid));
        const uint32_t n_left = old->n - MIN(old->n, span->n_done);
        const uint32_t n_later = MIN(later->n, ASYNC_MAX_FRAMES);
        AsyncStack stack;

        if (!n_left || n_left >= n_later ||
            memcmp(async_chain_addresses(chains, old) + span->n_done, addresses,
                   n_left * sizeof(uint64_t)) != 0)
                return false;
        stack.n = n_later;
        memcpy(stack.addresses, addresses, n_later * sizeof(uint64_t));
        chain = async_reading_chain(reading, span->chain, span->n_done, &stack, true);
        if (chain != ASYNC_NO_CHAIN && thread)
                async_thread_lengthen(thread, async_thread_find(thread, span->begin - 1),
                                      async_thread_find(thread, span->end - 1), span->depth,
                                      span->chain, chain);
        return true;
}

/* The context has had CHAIN since its last resumption. */
static void async_kept_set(AsyncReading *reading, AsyncKept *kept, uint32_t chain)
{
        unsigned i, n = 0;

        kept->chain = chain;
        for (i = 0; i < kept->n_spans; i++)
                if (kept->spans[i].end > kept->resumed ||
                    !async_span_lengthen(reading, &kept->spans[i], chain))
                        kept->spans[n++] = kept->spans[i];
        kept->n_spans = n;
}

/* The innermost context is suspended at the thread's last time. */
static void async_reading_suspend(AsyncReading *reading, AsyncThread *thread)
{
        const AsyncContext *context = async_thread_context(thread);
        AsyncSpan span = {.end = thread->last, .tid = thread->tid, .depth = thread->n_contexts};
        AsyncKept *kept;

        if (!context || !context->id || context->chain == ASYNC_NO_CHAIN ||
            context->first >= thread->states->len)
                return;
        span.begin = g_array_index(thread->states, AsyncState, context->first).time;
        span.chain = context->chain;
        span.n_done = context->n_done;
        kept = async_reading_keep(reading, context->id);
        if (kept->chain != ASYNC_NO_CHAIN && kept->resumed >= span.end &&
            async_span_lengthen(reading, &span, kept->chain))
                return;
        if (kept->n_spans == MAX_SPANS)
                memmove(kept->spans, kept->spans + 1, --kept->n_spans * sizeof(*kept->spans));
        kept->spans[kept->n_spans++] = span;
}

/* The methods that await the last method of the chain were not known when it was resumed: they are
 * those that it would have continued then, too. */
static void async_reading_append(AsyncReading *reading, AsyncThread *thread,
                                 const AsyncStack *stack)
{
        AsyncContext *context = async_thread_context(thread);
        AsyncKept *kept;
        uint32_t chain;

        if (!context || context->chain == ASYNC_NO_CHAIN)
                return;
        chain = async_reading_chain(reading, context->chain,
                                    async_chains_get(reading->chains, context->chain)->n, stack,
                                    true);
        async_thread_lengthen(thread, context->first, thread->states->len, thread->n_contexts,
                              context->chain, chain);
        context->chain = chain;
        kept = g_hash_table_lookup(reading->kept, &context->id);
        if (kept && chain != ASYNC_NO_CHAIN && kept->resumed <= thread->last)
                async_kept_set(reading, kept, chain);
}

static void async_reading_resume(AsyncReading *reading, AsyncThread *thread,
                                 const AsyncEvent *event, AsyncStack *stack)
{
        const bool is_machine = event->id == ASYNC_MACHINE_RESUME_STACK;
        uint32_t chain = ASYNC_NO_CHAIN;
        uint64_t id = 0;
        AsyncKept *kept;

        if (async_event_stack(event, stack)) {
                chain = async_reading_chain(reading, ASYNC_NO_CHAIN, 0, stack, is_machine);
                id = is_machine ? stack->id : 0;
        }
        kept = id && chain != ASYNC_NO_CHAIN ? async_reading_keep(reading, id) : NULL;
        if (kept && thread->last >= kept->resumed) {
                kept->resumed = thread->last;
                async_kept_set(reading, kept, chain);
        }
        async_thread_push(thread, chain, id);
}

/* True: the state of the thread has changed. */
static bool async_reading_take_event(AsyncReading *reading, AsyncThread *thread,
                                     const AsyncEvent *event, AsyncStack *stack)
{
        switch (event->id) {
        case ASYNC_RESUME_STACK:
        case ASYNC_MACHINE_RESUME_STACK:
                async_reading_resume(reading, thread, event, stack);
                return true;
        case ASYNC_MACHINE_APPEND_STACK:
                if (async_event_stack(event, stack))
                        async_reading_append(reading, thread, stack);
                return true;
        case ASYNC_SUSPEND:
        case ASYNC_COMPLETE:
        case ASYNC_MACHINE_SUSPEND:
        case ASYNC_MACHINE_COMPLETE:
                if (event->id == ASYNC_MACHINE_SUSPEND)
                        async_reading_suspend(reading, thread);
                thread->n_contexts -= thread->n_contexts > 0;
                return true;
        case ASYNC_MACHINE_COMPLETE_METHOD:
        case ASYNC_MACHINE_UNWIND:
                if (thread->n_contexts)
                        thread->contexts[thread->n_contexts - 1].n_done++;
                return true;
        case ASYNC_RESET_THREAD:
                thread->n_contexts = 0;
                return true;
        default:
                return false;
        }
}

/* TID: the buffer's thread; 0: not known. */
static void async_reading_take_buffer(AsyncReading *reading, int32_t tid, const uint8_t *bytes,
                                      size_t n, AsyncStack *stack)
{
        AsyncThread *thread;
        AsyncBuffer buffer;
        AsyncEvent event;

        if (!async_buffer_read(&buffer, bytes, n))
                return;
        thread = tid ? async_reading_thread(reading, tid) : NULL;
        /* Sub-events have the lengths of the whole stream. */
        if (!thread) {
                while (async_buffer_next(&buffer, &reading->lengths, &event))
                        ;
                return;
        }
        if (thread->n_gaps != reading->n_gaps) {
                thread->n_gaps = reading->n_gaps;
                thread->n_contexts = 0;
                async_thread_note(thread, thread->last);
        }
        while (reading->chains->n_states < ASYNC_CHAINS_MAX_STATES &&
               async_buffer_next(&buffer, &reading->lengths, &event)) {
                const uint64_t time = event.time - (uint64_t)reading->clock_ahead;

                /* Wrong times must not spoil the order. */
                thread->last = MAX(thread->last, time);
                if (async_reading_take_event(reading, thread, &event, stack)) {
                        async_thread_note(thread, thread->last);
                        reading->chains->n_states++;
                }
        }
        /* The rest of the buffer is not known. */
        if (buffer.n_left || buffer.cursor.has_failed) {
                thread->n_contexts = 0;
                async_thread_note(thread, thread->last);
        }
}

static void async_reading_take(AsyncReading *reading, const AsyncLogEntry *entry,
                               const uint8_t *bytes, AsyncStack *stack)
{
        if (reading->is_over) {
                /* Another worker continues the log. */
                reading->is_over = false;
                reading->known = 0;
                reading->n_gaps++;
        }
        switch ((AsyncLogKind)entry->kind) {
        case ASYNC_LOG_BUFFER:
                async_reading_take_buffer(reading, entry->tid, bytes, (size_t)entry->n, stack);
                break;
        case ASYNC_LOG_GAP:
                reading->n_gaps++;
                break;
        case ASYNC_LOG_FLUSHED:
                reading->known = MAX(reading->known, entry->time);
                reading->is_late = false;
                break;
        case ASYNC_LOG_END:
                reading->known = UINT64_MAX;
                reading->is_over = true;
                break;
        case ASYNC_LOG_CLOSED:
                reading->is_over = true;
                break;
        }
}

/* Returns how many of the N BYTES were read: the last entry can be incomplete. */
static size_t async_reading_take_entries(AsyncReading *reading, const char *bytes, size_t n)
{
        g_autofree AsyncStack *stack = g_new(AsyncStack, 1);
        AsyncLogEntry entry;
        size_t at = 0;

        while (n - at >= sizeof(entry)) {
                memcpy(&entry, bytes + at, sizeof(entry));
                if (entry.n > n - at - sizeof(entry))
                        break;
                at += sizeof(entry);
                reading->pid = entry.pid;
                reading->clock_ahead = entry.clock_ahead;
                async_reading_take(reading, &entry, (const uint8_t *)bytes + at, stack);
                at += (size_t)entry.n;
        }
        /* Of two logs of a pid, the one that continues. */
        if (at)
                g_hash_table_insert(reading->chains->processes, GINT_TO_POINTER(reading->pid),
                                    reading);
        return at;
}

/* Reads the rest of the segment. Returns the bytes of an incomplete entry at the end. */
static uint64_t async_reading_read(AsyncReading *reading, const char *path)
{
        g_autofree char *bytes = NULL;
        struct stat st;
        gsize n = 0;

        if (stat(path, &st) < 0 || (uint64_t)st.st_size <= reading->offset ||
            (uint64_t)st.st_size > MAX_SEGMENT || !g_file_get_contents(path, &bytes, &n, NULL) ||
            n <= reading->offset)
                return 0;
        reading->offset += async_reading_take_entries(reading, bytes + reading->offset,
                                                      n - (size_t)reading->offset);
        return n - reading->offset;
}

static void async_reading_update(AsyncReading *reading)
{
        const char *directory = reading->chains->directory;
        uint32_t first, end;

        async_log_find(directory, reading->name, &first, &end);
        for (reading->segment = MAX(reading->segment, first); reading->segment < end;
             reading->segment++) {
                g_autofree char *path =
                        async_log_segment(directory, reading->name, reading->segment);
                const uint64_t n_rest = async_reading_read(reading, path);

                /* The newest segment is still being written. */
                if (reading->segment + 1 == end)
                        break;
                reading->n_gaps += n_rest > 0;
                reading->offset = 0;
                unlink(path);
        }
}

static void async_reading_free(gpointer data)
{
        AsyncReading *reading = data;
        GHashTable *processes = reading->chains->processes;

        if (g_hash_table_lookup(processes, GINT_TO_POINTER(reading->pid)) == reading)
                g_hash_table_remove(processes, GINT_TO_POINTER(reading->pid));
        g_hash_table_unref(reading->threads);
        g_hash_table_unref(reading->kept);
        g_free(reading->name);
        g_free(reading);
}

/* Adds a reading for the log of the file NAME, a segment. */
static void async_chains_add(AsyncChains *chains, const char *name)
{
        const char *end = strrchr(name, '.');
        g_autofree char *log = end ? g_strndup(name, (gsize)(end - name)) : NULL;
        AsyncReading *reading;

        if (!log || g_hash_table_contains(chains->readings, log))
                return;
        reading = g_new0(AsyncReading, 1);
        reading->chains = chains;
        reading->name = g_steal_pointer(&log);
        async_lengths_init(&reading->lengths);
        reading->threads = g_hash_table_new_full(NULL, NULL, NULL, async_thread_free);
        reading->kept = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);
        g_hash_table_insert(chains->readings, reading->name, reading);
}

void async_chains_update(AsyncChains *chains)
{
        g_autoptr(GDir) files = g_dir_open(chains->directory, 0, NULL);
        GHashTableIter iter;
        gpointer reading;
        const char *name;

        while (files && (name = g_dir_read_name(files)))
                async_chains_add(chains, name);
        g_hash_table_iter_init(&iter, chains->readings);
        while (g_hash_table_iter_next(&iter, NULL, &reading))
                async_reading_update(reading);
}

/* True if all events before TIME have been read. IS_LAST: logs for which that is false are late. */
static bool async_chains_have(AsyncChains *chains, uint64_t time, bool is_last)
{
        GHashTableIter iter;
        gpointer value;
        bool all = true;

        g_hash_table_iter_init(&iter, chains->readings);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                AsyncReading *reading = value;
                const bool is_waited_for =
                        !reading->is_over && !reading->is_late && reading->known < time;

                all &= !is_waited_for;
                reading->is_late |= is_waited_for && is_last;
        }
        return all;
}

bool async_chains_await(AsyncChains *chains, uint64_t time, int64_t limit)
{
        const gint64 deadline = g_get_monotonic_time() + limit;

        for (;;) {
                const bool is_last = g_get_monotonic_time() >= deadline;

                async_chains_update(chains);
                if (async_chains_have(chains, time, is_last))
                        return true;
                if (is_last)
                        return false;
                g_usleep(PAUSE);
        }
}

static void async_reading_forget(AsyncReading *reading, uint64_t time)
{
        GHashTableIter iter;
        gpointer value;

        g_hash_table_iter_init(&iter, reading->threads);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                AsyncThread *thread = value;

                reading->chains->n_states -= async_thread_forget(thread, time);
                /* The threads of a process that has ended continue nothing. */
                if (!async_thread_is_empty(thread) && (!reading->is_over || thread->last >= time))
                        continue;
                reading->chains->n_states -= thread->states->len;
                g_hash_table_iter_remove(&iter);
        }
        g_hash_table_iter_init(&iter, reading->kept);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                const AsyncKept *kept = value;

                if (kept->resumed < time &&
                    (!kept->n_spans || kept->spans[kept->n_spans - 1].end < time))
                        g_hash_table_iter_remove(&iter);
        }
}

/* Gives the chains of a process's states their new numbers. */
static uint32_t async_chains_move(AsyncChains *chains, const GArray *rows, const GArray *addresses,
                                  uint32_t *moved, uint32_t number)
{
        AsyncChain row;

        if (number == ASYNC_NO_CHAIN || moved[number] != ASYNC_NO_CHAIN)
                return number == ASYNC_NO_CHAIN ? ASYNC_NO_CHAIN : moved[number];
        row = g_array_index(rows, AsyncChain, number);
        g_array_append_vals(chains->addresses, &g_array_index(addresses, uint64_t, row.first),
                            row.n);
        row.first = chains->addresses->len - row.n;
        return moved[number] = async_chains_number(chains, &row);
}

static void async_thread_move(AsyncChains *chains, const GArray *rows, const GArray *addresses,
                              uint32_t *moved, AsyncThread *thread)
{
        guint i;

        for (i = 0; i < thread->states->len; i++) {
                AsyncState *state = &g_array_index(thread->states, AsyncState, i);

                state->chain = async_chains_move(chains, rows, addresses, moved, state->chain);
        }
        for (i = 0; i < thread->n_contexts; i++)
                thread->contexts[i].chain = async_chains_move(chains, rows, addresses, moved,
                                                              thread->contexts[i].chain);
}

static void async_chains_clear(AsyncChains *chains)
{
        chains->rows = g_array_new(FALSE, FALSE, sizeof(AsyncChain));
        chains->addresses = g_array_new(FALSE, FALSE, sizeof(uint64_t));
        chains->numbers = g_hash_table_new_full(async_key_hash, async_key_equal, g_free, NULL);
}

static void async_kept_move(AsyncChains *chains, const GArray *rows, const GArray *addresses,
                            uint32_t *moved, AsyncKept *kept)
{
        unsigned i;

        for (i = 0; i < kept->n_spans; i++)
                kept->spans[i].chain =
                        async_chains_move(chains, rows, addresses, moved, kept->spans[i].chain);
        kept->chain = async_chains_move(chains, rows, addresses, moved, kept->chain);
}

/* Removes unused chains. */
static void async_chains_compact(AsyncChains *chains)
{
        g_autoptr(GArray) rows = chains->rows, addresses = chains->addresses;
        g_autofree uint32_t *moved = g_new(uint32_t, rows->len);
        GHashTableIter iter, of_reading;
        gpointer reading, value;

        memset(moved, 0xff, rows->len * sizeof(*moved));
        g_hash_table_unref(chains->numbers);
        async_chains_clear(chains);
        g_hash_table_iter_init(&iter, chains->readings);
        while (g_hash_table_iter_next(&iter, NULL, &reading)) {
                g_hash_table_iter_init(&of_reading, ((AsyncReading *)reading)->threads);
                while (g_hash_table_iter_next(&of_reading, NULL, &value))
                        async_thread_move(chains, rows, addresses, moved, value);
                g_hash_table_iter_init(&of_reading, ((AsyncReading *)reading)->kept);
                while (g_hash_table_iter_next(&of_reading, &value, NULL))
                        async_kept_move(chains, rows, addresses, moved, value);
        }
}

void async_chains_forget(AsyncChains *chains, uint64_t time)
{
        GHashTableIter iter;
        gpointer value;

        g_hash_table_iter_init(&iter, chains->readings);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                AsyncReading *reading = value;
                g_autofree char *path =
                        async_log_segment(chains->directory, reading->name, reading->segment);

                async_reading_forget(reading, time);
                if (!reading->is_over || g_hash_table_size(reading->threads))
                        continue;
                unlink(path);
                g_hash_table_iter_remove(&iter);
        }
        if (chains->addresses->len > COMPACT_FRAMES)
                async_chains_compact(chains);
}

AsyncChains *async_chains_new(const char *directory)
{
        AsyncChains *chains;

        if (access(directory, R_OK | X_OK) < 0)
                return NULL;
        chains = g_new0(AsyncChains, 1);
        chains->directory = g_strdup(directory);
        chains->readings = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, async_reading_free);
        chains->processes = g_hash_table_new(NULL, NULL);
        async_chains_clear(chains);
        async_chains_update(chains);
        return chains;
}

void async_chains_free(AsyncChains *chains)
{
        if (!chains)
                return;
        g_hash_table_unref(chains->readings);
        g_hash_table_unref(chains->processes);
        g_hash_table_unref(chains->numbers);
        g_array_unref(chains->rows);
        g_array_unref(chains->addresses);
        g_free(chains->directory);
        g_free(chains);
}

bool async_chains_are_empty(const AsyncChains *chains)
{
        return !chains->rows->len;
}

/* True if all events of THREAD are known at TIME. */
static bool async_thread_is_known(const AsyncThread *thread, const AsyncReading *reading,
                                  uint64_t time)
{
        return time < thread->last || (thread->n_gaps == reading->n_gaps && time < reading->known);
}

bool async_chains_find(const AsyncChains *chains, int32_t pid, int32_t tid, uint64_t time,
                       AsyncPlace *ret)
{
        const AsyncReading *reading = g_hash_table_lookup(chains->processes, GINT_TO_POINTER(pid));
        const AsyncThread *thread =
                reading ? g_hash_table_lookup(reading->threads, GINT_TO_POINTER(tid)) : NULL;
        const guint n = thread ? async_thread_find(thread, time) : 0;
        const AsyncState *state;

        if (!n || !async_thread_is_known(thread, reading, time))
                return false;
        state = &g_array_index(thread->states, AsyncState, n - 1);
        if (state->chain == ASYNC_NO_CHAIN)
                return false;
        *ret = (AsyncPlace){state->chain, state->n_done};
        return true;
}

const AsyncChain *async_chains_get(const AsyncChains *chains, uint32_t number)
{
        return &g_array_index(chains->rows, AsyncChain, number);
}

const uint64_t *async_chain_addresses(const AsyncChains *chains, const AsyncChain *chain)
{
        return &g_array_index(chains->addresses, uint64_t, chain->first);
}
