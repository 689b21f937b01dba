/* SPDX-License-Identifier: MIT */
#include "tracker/gaps.h"

static Gap *gaps_at(const GArray *gaps, guint i)
{
        return &g_array_index(gaps, Gap, i);
}

/* The index of the first gap that does not end before TIME. */
static guint gaps_first_from(const GArray *gaps, uint64_t time)
{
        guint low = 0, high = gaps->len;

        while (low < high) {
                guint middle = low + (high - low) / 2;

                if (gaps_at(gaps, middle)->end < time)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

/* The number of gaps, from the I-th on, that begin by TIME. */
static guint gaps_n_until(const GArray *gaps, guint i, uint64_t time)
{
        guint n = 0;

        while (i + n < gaps->len && gaps_at(gaps, i + n)->begin <= time)
                n++;
        return n;
}

void gaps_add(GArray *gaps, uint64_t begin, uint64_t end)
{
        Gap gap = {begin, MAX(begin, end)};
        guint i = gaps_first_from(gaps, gap.begin), n = gaps_n_until(gaps, i, gap.end);

        if (n) {
                gap.begin = MIN(gap.begin, gaps_at(gaps, i)->begin);
                gap.end = MAX(gap.end, gaps_at(gaps, i + n - 1)->end);
                g_array_remove_range(gaps, i, n);
        }
        g_array_insert_val(gaps, i, gap);
}

bool gaps_search(const GArray *gaps, uint64_t begin, uint64_t end)
{
        guint i = gaps_first_from(gaps, begin);

        return i < gaps->len && gaps_at(gaps, i)->begin <= end;
}

void gaps_remove(GArray *gaps, uint64_t begin, uint64_t end)
{
        guint i = gaps_first_from(gaps, begin), n = gaps_n_until(gaps, i, end);

        if (n)
                g_array_remove_range(gaps, i, n);
}

void gaps_limit(GArray *gaps, guint most)
{
        if (gaps->len <= most)
                return;
        gaps_at(gaps, 0)->end = gaps_at(gaps, gaps->len - most)->end;
        g_array_remove_range(gaps, 1, gaps->len - most);
}
