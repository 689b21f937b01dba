/* SPDX-License-Identifier: MIT */
#include "util/ahead.h"

#include <glib.h>

struct Ahead {
        AheadFillFn fill;
        void *data;
        unsigned n_batches;
        bool has_batch;  /* the caller has the oldest filled batch */
        GThread *thread; /* owned; NULL: no thread */

        GMutex lock; /* of the members below */
        GCond changed;
        unsigned n_taken;  /* batches that the caller has finished */
        unsigned n_filled; /* batches that were filled */
        bool is_over;      /* no more batches are wanted */
        bool thread_waits, caller_waits;
};

/* A waiter is woken for several batches at once, because a wake-up costs as much as a batch. */
static unsigned ahead_n_at_once(const Ahead *ahead)
{
        return MAX(ahead->n_batches / 2, 1);
}

/* Waits until a batch can be filled. False: no more batches are wanted. */
static bool ahead_await_empty(Ahead *ahead, unsigned *ret_number)
{
        bool is_over;

        g_mutex_lock(&ahead->lock);
        while (!ahead->is_over && ahead->n_filled - ahead->n_taken == ahead->n_batches) {
                ahead->thread_waits = true;
                g_cond_wait(&ahead->changed, &ahead->lock);
        }
        ahead->thread_waits = false;
        is_over = ahead->is_over;
        *ret_number = ahead->n_filled % ahead->n_batches;
        g_mutex_unlock(&ahead->lock);
        return !is_over;
}

static void ahead_hand_over(Ahead *ahead, bool is_last)
{
        g_mutex_lock(&ahead->lock);
        ahead->n_filled++;
        if (ahead->caller_waits &&
            (is_last || ahead->n_filled - ahead->n_taken >= ahead_n_at_once(ahead)))
                g_cond_signal(&ahead->changed);
        g_mutex_unlock(&ahead->lock);
}

static gpointer ahead_run(gpointer data)
{
        Ahead *ahead = data;
        bool goes_on = true;
        unsigned number;

        while (goes_on && ahead_await_empty(ahead, &number)) {
                goes_on = ahead->fill(ahead->data, number);
                ahead_hand_over(ahead, !goes_on);
        }
        return NULL;
}

Ahead *ahead_new(const char *name, unsigned n_batches, AheadFillFn fill, void *data)
{
        Ahead *ahead = g_new0(Ahead, 1);

        ahead->fill = fill;
        ahead->data = data;
        ahead->n_batches = n_batches;
        g_mutex_init(&ahead->lock);
        g_cond_init(&ahead->changed);
        if (g_get_num_processors() > 1)
                ahead->thread = g_thread_try_new(name, ahead_run, ahead, NULL);
        return ahead;
}

void ahead_free(Ahead *ahead)
{
        if (!ahead)
                return;
        g_mutex_lock(&ahead->lock);
        ahead->is_over = true;
        g_cond_signal(&ahead->changed);
        g_mutex_unlock(&ahead->lock);
        if (ahead->thread)
                g_thread_join(ahead->thread);
        g_mutex_clear(&ahead->lock);
        g_cond_clear(&ahead->changed);
        g_free(ahead);
}

unsigned ahead_next(Ahead *ahead)
{
        unsigned number;

        g_mutex_lock(&ahead->lock);
        if (ahead->has_batch)
                ahead->n_taken++;
        if (ahead->thread_waits &&
            ahead->n_batches - (ahead->n_filled - ahead->n_taken) >= ahead_n_at_once(ahead))
                g_cond_signal(&ahead->changed);
        while (ahead->thread && ahead->n_filled == ahead->n_taken) {
                ahead->caller_waits = true;
                g_cond_wait(&ahead->changed, &ahead->lock);
        }
        ahead->caller_waits = false;
        number = ahead->n_taken % ahead->n_batches;
        g_mutex_unlock(&ahead->lock);
        if (!ahead->thread) {
                ahead->fill(ahead->data, number);
                ahead->n_filled++;
        }
        ahead->has_batch = true;
        return number;
}
