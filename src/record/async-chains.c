/* SPDX-License-Identifier: MIT */
#include "record/async-chains.h"

#include "event/async-events.h"

#include <glib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NO_CHAIN UINT32_MAX
/* Maximum of contexts of a thread, and of threads of a process. */
#define MAX_CONTEXTS 32
#define MAX_THREADS  (1u << 16)
/* Frames of a chain, as many as a stack has. */
#define MAX_CHAIN 1024u
/* Maximum of states of a context that get the methods that await it later. */
#define MAX_APPENDED 4096u
/* Bytes of a segment; a larger one is not written by us. */
#define MAX_SEGMENT (2 * ASYNC_LOG_SEGMENT_BYTES)
/* us between looks at a log whose events are awaited. */
#define PAUSE (50 * G_TIME_SPAN_MILLISECOND)
/* Frames of all chains from which on unused chains are removed. */
#define COMPACT_FRAMES (ASYNC_CHAINS_MAX_FRAMES / 4)

/* The state from TIME on. */
typedef struct AsyncState {
        uint64_t time; /* ns of our CLOCK_MONOTONIC */
        uint32_t chain, n_done;
} AsyncState;

typedef struct AsyncContext {
        uint32_t chain, n_done;
        guint first; /* of the thread's states: later ones can be of this context */
} AsyncContext;

typedef struct AsyncThread {
        GArray *states;                      /* owned, of AsyncState, by time */
        AsyncContext contexts[MAX_CONTEXTS]; /* the last one is the innermost */
        unsigned n_contexts;
        unsigned n_gaps; /* gaps of the process, at the last buffer */
        uint64_t last;   /* time of the last event */
} AsyncThread;

/* A log that is read. */
typedef struct AsyncReading {
        AsyncChains *chains; /* borrowed */
        char *name;          /* owned: of the log */
        uint32_t segment;    /* number of the segment that is read */
        uint64_t offset;     /* bytes of it that were read */
        AsyncLengths lengths;
        GHashTable *threads; /* owned: int32_t tid -> owned AsyncThread */
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

/* The chain BEFORE, or an empty one (NO_CHAIN), with the frames of STACK after it. */
static uint32_t async_reading_chain(AsyncReading *reading, uint32_t before, const AsyncStack *stack,
                                    bool is_machine)
{
        AsyncChains *chains = reading->chains;
        AsyncChain row = {.first = chains->addresses->len,
                          .n = stack->n,
                          .pid = reading->pid,
                          .index = is_machine ? 0 : (uint8_t)stack->index,
                          .is_machine = is_machine};

        if (before != NO_CHAIN)
                row.n += g_array_index(chains->rows, AsyncChain, before).n;
        if (row.n > MAX_CHAIN || row.n > ASYNC_CHAINS_MAX_FRAMES - row.first)
                return NO_CHAIN;
        if (before != NO_CHAIN) {
                const AsyncChain *old = &g_array_index(chains->rows, AsyncChain, before);

                g_array_set_size(chains->addresses, row.first + old->n);
                memcpy(&g_array_index(chains->addresses, uint64_t, row.first),
                       &g_array_index(chains->addresses, uint64_t, old->first),
                       old->n * sizeof(uint64_t));
        }
        g_array_append_vals(chains->addresses, stack->addresses, stack->n);
        return async_chains_number(chains, &row);
}

static void async_thread_free(gpointer data)
{
        AsyncThread *thread = data;

        g_array_unref(thread->states);
        g_free(thread);
}

/* NULL: there are too many. */
static AsyncThread *async_reading_thread(AsyncReading *reading, int32_t tid)
{
        AsyncThread *thread = g_hash_table_lookup(reading->threads, GINT_TO_POINTER(tid));

        if (!thread && g_hash_table_size(reading->threads) < MAX_THREADS) {
                thread = g_new0(AsyncThread, 1);
                thread->states = g_array_new(FALSE, FALSE, sizeof(AsyncState));
                thread->n_gaps = reading->n_gaps;
                g_hash_table_insert(reading->threads, GINT_TO_POINTER(tid), thread);
        }
        return thread;
}

/* From TIME on, the innermost context counts. */
static void async_thread_note(AsyncThread *thread, uint64_t time)
{
        AsyncState state = {.time = time, .chain = NO_CHAIN};

        if (thread->n_contexts) {
                const AsyncContext *context = &thread->contexts[thread->n_contexts - 1];

                state.chain = context->chain;
                state.n_done = context->n_done;
        }
        g_array_append_val(thread->states, state);
}

static void async_thread_push(AsyncThread *thread, uint32_t chain)
{
        if (thread->n_contexts == MAX_CONTEXTS)
                memmove(thread->contexts, thread->contexts + 1,
                        --thread->n_contexts * sizeof(*thread->contexts));
        thread->contexts[thread->n_contexts++] =
                (AsyncContext){.chain = chain, .first = thread->states->len};
}

/* The methods that await the last method of the chain were not known when it was resumed: they are
 * those that it would have continued then, too. */
static void async_thread_append(AsyncReading *reading, AsyncThread *thread, const AsyncStack *stack)
{
        AsyncContext *context =
                thread->n_contexts ? &thread->contexts[thread->n_contexts - 1] : NULL;
        uint32_t chain;
        guint i;

        if (!context || context->chain == NO_CHAIN)
                return;
        chain = async_reading_chain(reading, context->chain, stack, true);
        i = thread->states->len - MIN(thread->states->len - context->first, MAX_APPENDED);
        for (; i < thread->states->len; i++) {
                AsyncState *state = &g_array_index(thread->states, AsyncState, i);

                if (state->chain == context->chain)
                        state->chain = chain;
        }
        context->chain = chain;
}

/* True: the state of the thread has changed. */
static bool async_thread_take(AsyncReading *reading, AsyncThread *thread, const AsyncEvent *event,
                              AsyncStack *stack)
{
        switch (event->id) {
        case ASYNC_RESUME_STACK:
        case ASYNC_MACHINE_RESUME_STACK:
                async_thread_push(thread, async_event_stack(event, stack)
                                                  ? async_reading_chain(
                                                            reading, NO_CHAIN, stack,
                                                            event->id == ASYNC_MACHINE_RESUME_STACK)
                                                  : NO_CHAIN);
                return true;
        case ASYNC_MACHINE_APPEND_STACK:
                if (async_event_stack(event, stack))
                        async_thread_append(reading, thread, stack);
                return true;
        case ASYNC_SUSPEND:
        case ASYNC_COMPLETE:
        case ASYNC_MACHINE_SUSPEND:
        case ASYNC_MACHINE_COMPLETE:
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
                if (async_thread_take(reading, thread, &event, stack)) {
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

/* The number of states of THREAD at TIME or before. */
static guint async_thread_find(const AsyncThread *thread, uint64_t time)
{
        guint low = 0, high = thread->states->len;

        while (low < high) {
                const guint middle = low + (high - low) / 2;

                if (g_array_index(thread->states, AsyncState, middle).time <= time)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

/* The state at TIME stays. Returns the number of removed states. */
static guint async_thread_forget(AsyncThread *thread, uint64_t time)
{
        const guint n_before = async_thread_find(thread, time), n = n_before ? n_before - 1 : 0;
        unsigned i;

        if (n)
                g_array_remove_range(thread->states, 0, n);
        for (i = 0; i < thread->n_contexts; i++)
                thread->contexts[i].first -= MIN(thread->contexts[i].first, n);
        return n;
}

/* True if nothing is continued, as in an unknown thread. */
static bool async_thread_is_empty(const AsyncThread *thread)
{
        return !thread->n_contexts &&
               (!thread->states->len ||
                (thread->states->len == 1 &&
                 g_array_index(thread->states, AsyncState, 0).chain == NO_CHAIN));
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
}

/* Gives the chains of a process's states their new numbers. */
static uint32_t async_chains_move(AsyncChains *chains, const GArray *rows, const GArray *addresses,
                                  uint32_t *moved, uint32_t number)
{
        AsyncChain row;

        if (number == NO_CHAIN || moved[number] != NO_CHAIN)
                return number == NO_CHAIN ? NO_CHAIN : moved[number];
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

/* Removes unused chains. */
static void async_chains_compact(AsyncChains *chains)
{
        g_autoptr(GArray) rows = chains->rows, addresses = chains->addresses;
        g_autofree uint32_t *moved = g_new(uint32_t, rows->len);
        GHashTableIter iter, of_threads;
        gpointer reading, thread;

        memset(moved, 0xff, rows->len * sizeof(*moved));
        g_hash_table_unref(chains->numbers);
        async_chains_clear(chains);
        g_hash_table_iter_init(&iter, chains->readings);
        while (g_hash_table_iter_next(&iter, NULL, &reading)) {
                g_hash_table_iter_init(&of_threads, ((AsyncReading *)reading)->threads);
                while (g_hash_table_iter_next(&of_threads, NULL, &thread))
                        async_thread_move(chains, rows, addresses, moved, thread);
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
        if (state->chain == NO_CHAIN)
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
