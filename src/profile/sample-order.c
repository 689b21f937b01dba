/* SPDX-License-Identifier: MIT */
#include "profile/sample-order.h"

typedef struct SampleOrder {
        const Sample *samples;
        const Thread *threads;
} SampleOrder;

static int numbers_compare(uint64_t a, uint64_t b)
{
        return a < b ? -1 : a > b;
}

static int sample_order_compare(gconstpointer a, gconstpointer b, gpointer data)
{
        const SampleOrder *order = data;
        const Sample *x = &order->samples[*(const uint32_t *)a];
        const Sample *y = &order->samples[*(const uint32_t *)b];
        const Thread *s = &order->threads[x->thread], *t = &order->threads[y->thread];
        int r;

        if (x->thread != y->thread)
                return s->pid != t->pid ? (s->pid < t->pid ? -1 : 1) : (s->tid < t->tid ? -1 : 1);
        r = numbers_compare(x->time, y->time);
        return r ? r : numbers_compare(*(const uint32_t *)a, *(const uint32_t *)b);
}

uint32_t *sample_order_new(const Profile *profile)
{
        uint32_t *sorted = g_new(uint32_t, profile->samples->len + 1);
        SampleOrder order = {
                .samples = (const Sample *)(gconstpointer)profile->samples->data,
                .threads = (const Thread *)(gconstpointer)profile->threads->data,
        };
        uint32_t i;

        for (i = 0; i < profile->samples->len; i++)
                sorted[i] = i;
        g_qsort_with_data(sorted, (gint)profile->samples->len, sizeof(*sorted),
                          sample_order_compare, &order);
        return sorted;
}
