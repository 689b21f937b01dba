/* SPDX-License-Identifier: MIT */
#include "record/async-thread.h"

#include <string.h>

/* Maximum of states of a context that get the methods that await it later. */
#define MAX_LENGTHENED 4096u

AsyncThread *async_thread_new(int32_t tid, unsigned n_gaps)
{
        AsyncThread *thread = g_new0(AsyncThread, 1);

        thread->tid = tid;
        thread->n_gaps = n_gaps;
        thread->states = g_array_new(FALSE, FALSE, sizeof(AsyncState));
        return thread;
}

void async_thread_free(gpointer data)
{
        AsyncThread *thread = data;

        g_array_unref(thread->states);
        g_free(thread);
}

AsyncContext *async_thread_context(AsyncThread *thread)
{
        return thread->n_contexts ? &thread->contexts[thread->n_contexts - 1] : NULL;
}

void async_thread_push(AsyncThread *thread, uint32_t chain, uint64_t id)
{
        if (thread->n_contexts == ASYNC_THREAD_MAX_CONTEXTS)
                memmove(thread->contexts, thread->contexts + 1,
                        --thread->n_contexts * sizeof(*thread->contexts));
        thread->contexts[thread->n_contexts++] =
                (AsyncContext){.id = id, .chain = chain, .first = thread->states->len};
}

void async_thread_note(AsyncThread *thread, uint64_t time)
{
        const AsyncContext *context = async_thread_context(thread);
        AsyncState state = {
                .time = time, .chain = ASYNC_NO_CHAIN, .depth = (uint16_t)thread->n_contexts};

        if (context) {
                state.chain = context->chain;
                state.n_done = (uint16_t)MIN(context->n_done, UINT16_MAX);
        }
        g_array_append_val(thread->states, state);
}

guint async_thread_find(const AsyncThread *thread, uint64_t time)
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

void async_thread_lengthen(AsyncThread *thread, guint first, guint end, unsigned depth,
                           uint32_t chain, uint32_t longer)
{
        guint i = MAX(first, end - MIN(end, MAX_LENGTHENED));

        for (; i < end; i++) {
                AsyncState *state = &g_array_index(thread->states, AsyncState, i);

                if (state->chain == chain && state->depth == depth)
                        state->chain = longer;
        }
}

guint async_thread_forget(AsyncThread *thread, uint64_t time)
{
        const guint n_before = async_thread_find(thread, time), n = n_before ? n_before - 1 : 0;
        unsigned i;

        if (n)
                g_array_remove_range(thread->states, 0, n);
        for (i = 0; i < thread->n_contexts; i++)
                thread->contexts[i].first -= MIN(thread->contexts[i].first, n);
        return n;
}

bool async_thread_is_empty(const AsyncThread *thread)
{
        return !thread->n_contexts &&
               (!thread->states->len ||
                (thread->states->len == 1 &&
                 g_array_index(thread->states, AsyncState, 0).chain == ASYNC_NO_CHAIN));
}
