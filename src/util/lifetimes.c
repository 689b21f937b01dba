/* SPDX-License-Identifier: MIT */
#include "util/lifetimes.h"

typedef struct Change {
        uint64_t time;
        int n; /* 1: a begin, -1: an end */
} Change;

struct Lifetimes {
        GArray *changes; /* owned: of Change */
};

Lifetimes *lifetimes_new(void)
{
        Lifetimes *lifetimes = g_new0(Lifetimes, 1);

        lifetimes->changes = g_array_new(FALSE, FALSE, sizeof(Change));
        return lifetimes;
}

void lifetimes_free(Lifetimes *lifetimes)
{
        if (!lifetimes)
                return;
        g_array_unref(lifetimes->changes);
        g_free(lifetimes);
}

void lifetimes_add(Lifetimes *lifetimes, uint64_t begin, uint64_t end)
{
        const Change changes[] = {{begin, 1}, {end, -1}};

        g_array_append_vals(lifetimes->changes, changes, G_N_ELEMENTS(changes));
}

/* At one time, ends come before begins. */
static int change_compare(const void *a, const void *b)
{
        const Change *first = a, *second = b;

        return first->time != second->time ? (first->time < second->time ? -1 : 1)
                                           : first->n - second->n;
}

uint64_t lifetimes_fullest(Lifetimes *lifetimes, uint64_t otherwise)
{
        int64_t n_alive = 0, n_best = 0;
        uint64_t best = otherwise;
        guint i;

        g_array_sort(lifetimes->changes, change_compare);
        for (i = 0; i < lifetimes->changes->len; i++) {
                const Change *change = &g_array_index(lifetimes->changes, Change, i);

                n_alive += change->n;
                if (n_alive > n_best) {
                        n_best = n_alive;
                        best = change->time;
                }
        }
        return best;
}
