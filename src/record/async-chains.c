/* SPDX-License-Identifier: MIT */
#include "record/async-chains.h"

#include "event/async-events.h"

#include <glib.h>
#include <string.h>
#include <sys/stat.h>

#define NO_CHAIN UINT32_MAX
/* Contexts of a thread, and threads of a process; more are not real. */
#define MAX_CONTEXTS 32
#define MAX_THREADS  (1u << 16)
/* Frames of a chain, as many as a stack has. */
#define MAX_CHAIN 1024u
/* States of a context that get the methods that begin to await it. */
#define MAX_APPENDED 4096u

/* From TIME on. */
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
        AsyncContext contexts[MAX_CONTEXTS]; /* the innermost is the last */
        unsigned n_contexts;
        unsigned n_gaps; /* of the process, at the last buffer */
        uint64_t last;   /* time of the last event */
} AsyncThread;

/* The log that is read. */
typedef struct AsyncReading {
        AsyncChains *chains;
        AsyncLengths lengths;
        GHashTable *threads; /* int32_t tid -> owned AsyncThread */
        unsigned n_gaps;
        int64_t clock_ahead;
        int32_t pid;
        bool is_complete;
} AsyncReading;

struct AsyncChains {
        GHashTable *processes; /* int32_t pid -> owned table of threads, as above */
        GArray *rows;          /* owned, of AsyncChain */
        GArray *addresses;     /* owned, of uint64_t */
        GHashTable *numbers;   /* owned AsyncKey -> number of the chain */
        uint64_t n_bytes;      /* that were read */
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

/* The number of the chain of the last N addresses, which stay if it is new. */
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

/* The chain of BEFORE, or of nothing (NO_CHAIN), with the frames of STACK after it. */
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

/* The methods that await the last one of the chain were not known yet when it was resumed: they are
 * those that were to be continued then, too. */
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

/* True: the state of the thread is another one now. */
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

/* TID: of the buffer's thread; 0: not known. */
static void async_reading_take_buffer(AsyncReading *reading, int32_t tid, const uint8_t *bytes,
                                      size_t n, AsyncStack *stack)
{
        AsyncThread *thread;
        AsyncBuffer buffer;
        AsyncEvent event;

        if (!async_buffer_read(&buffer, bytes, n))
                return;
        thread = tid ? async_reading_thread(reading, tid) : NULL;
        /* The lengths of sub-events are those of the whole stream. */
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

                /* Lies about times must not spoil the order. */
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
        switch ((AsyncLogKind)entry->kind) {
        case ASYNC_LOG_BUFFER:
                async_reading_take_buffer(reading, entry->tid, bytes, (size_t)entry->n, stack);
                break;
        case ASYNC_LOG_GAP:
                reading->n_gaps++;
                break;
        case ASYNC_LOG_END:
                reading->is_complete = true;
                break;
        }
}

/* What came after the last buffers is not known: the last event is the last time of a state. */
static void async_reading_end(AsyncReading *reading)
{
        GHashTableIter iter;
        gpointer value;

        g_hash_table_iter_init(&iter, reading->threads);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                AsyncThread *thread = value;

                if (reading->is_complete && thread->n_gaps == reading->n_gaps)
                        continue;
                thread->n_contexts = 0;
                async_thread_note(thread, thread->last);
        }
}

static void async_chains_read(AsyncChains *chains, const char *path)
{
        AsyncReading reading = {.chains = chains};
        g_autofree AsyncStack *stack = g_new(AsyncStack, 1);
        g_autofree char *bytes = NULL;
        AsyncLogEntry entry;
        struct stat st;
        gsize n = 0, at = 0;

        if (stat(path, &st) < 0 ||
            (uint64_t)st.st_size > ASYNC_CHAINS_MAX_BYTES - chains->n_bytes ||
            !g_file_get_contents(path, &bytes, &n, NULL))
                return;
        chains->n_bytes += MIN(n, ASYNC_CHAINS_MAX_BYTES - chains->n_bytes);
        async_lengths_init(&reading.lengths);
        reading.threads = g_hash_table_new_full(NULL, NULL, NULL, async_thread_free);
        while (n - at >= sizeof(entry)) {
                memcpy(&entry, bytes + at, sizeof(entry));
                at += sizeof(entry);
                if (entry.n > n - at)
                        break;
                reading.pid = entry.pid;
                reading.clock_ahead = entry.clock_ahead;
                async_reading_take(&reading, &entry, (const uint8_t *)bytes + at, stack);
                at += (gsize)entry.n;
        }
        async_reading_end(&reading);
        g_hash_table_replace(chains->processes, GINT_TO_POINTER(reading.pid), reading.threads);
}

AsyncChains *async_chains_new(const char *directory)
{
        g_autoptr(GDir) files = g_dir_open(directory, 0, NULL);
        AsyncChains *chains;
        const char *name;

        if (!files)
                return NULL;
        chains = g_new0(AsyncChains, 1);
        chains->processes =
                g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_hash_table_unref);
        chains->rows = g_array_new(FALSE, FALSE, sizeof(AsyncChain));
        chains->addresses = g_array_new(FALSE, FALSE, sizeof(uint64_t));
        chains->numbers = g_hash_table_new_full(async_key_hash, async_key_equal, g_free, NULL);
        while ((name = g_dir_read_name(files))) {
                g_autofree char *path = g_build_filename(directory, name, NULL);

                async_chains_read(chains, path);
        }
        return chains;
}

void async_chains_free(AsyncChains *chains)
{
        if (!chains)
                return;
        g_hash_table_unref(chains->processes);
        g_hash_table_unref(chains->numbers);
        g_array_unref(chains->rows);
        g_array_unref(chains->addresses);
        g_free(chains);
}

bool async_chains_are_empty(const AsyncChains *chains)
{
        return !chains->rows->len;
}

bool async_chains_find(const AsyncChains *chains, int32_t pid, int32_t tid, uint64_t time,
                       AsyncPlace *ret)
{
        GHashTable *threads = g_hash_table_lookup(chains->processes, GINT_TO_POINTER(pid));
        const AsyncThread *thread =
                threads ? g_hash_table_lookup(threads, GINT_TO_POINTER(tid)) : NULL;
        guint low = 0, high = thread ? thread->states->len : 0;
        const AsyncState *state;

        while (low < high) {
                const guint middle = low + (high - low) / 2;

                if (g_array_index(thread->states, AsyncState, middle).time <= time)
                        low = middle + 1;
                else
                        high = middle;
        }
        if (!low)
                return false;
        state = &g_array_index(thread->states, AsyncState, low - 1);
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
