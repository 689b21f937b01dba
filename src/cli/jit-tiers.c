/* SPDX-License-Identifier: MIT */
#include "cli/jit-tiers.h"

#include <string.h>

static JitTier *tier_of(JitTiers *tiers, const char *name)
{
        JitTier tier = {.name = name};
        guint i;

        for (i = 0; i < tiers->tiers->len; i++)
                if (!strcmp(g_array_index(tiers->tiers, JitTier, i).name, name))
                        return &g_array_index(tiers->tiers, JitTier, i);
        g_array_append_val(tiers->tiers, tier);
        return &g_array_index(tiers->tiers, JitTier, i);
}

static unsigned step_of(const JitTiers *tiers, uint64_t time)
{
        uint64_t length = tiers->end - tiers->begin + 1;

        return (unsigned)((__uint128_t)(time - tiers->begin) * JIT_N_STEPS / length);
}

uint64_t jit_tiers_step(const JitTiers *tiers, unsigned step)
{
        uint64_t length = tiers->end - tiers->begin + 1;

        /* The earliest time for which step_of() returns STEP. */
        return tiers->begin +
               (uint64_t)(((__uint128_t)length * step + JIT_N_STEPS - 1) / JIT_N_STEPS);
}

static void jit_tiers_add(JitTiers *tiers, const BodyRow *row)
{
        JitSum *sum = &tier_of(tiers, row->tier)->sum;
        unsigned step;

        sum->n_bodies++;
        if (row->unloaded == CLRSYM_ALIVE) {
                sum->n_live++;
                sum->n_bytes += row->size;
        }
        sum->jit_us += row->jit_us;
        sum->max_us = MAX(sum->max_us, row->jit_us);
        if (row->loaded == CLRSYM_NO_TIME)
                return;
        step = step_of(tiers, row->loaded);
        sum->n_loads[step]++;
        tiers->step_jit_us[step] += row->jit_us;
}

static int compare_tiers(const void *a, const void *b)
{
        const JitTier *first = a, *second = b;

        if (first->sum.n_bodies != second->sum.n_bodies)
                return first->sum.n_bodies < second->sum.n_bodies ? 1 : -1;
        return strcmp(first->name, second->name);
}

void jit_tiers_init(JitTiers *tiers, const BodyRows *list)
{
        guint i;

        *tiers = (JitTiers){.tiers = g_array_new(FALSE, FALSE, sizeof(JitTier)),
                            .begin = UINT64_MAX};
        for (i = 0; i < list->rows->len; i++) {
                const BodyRow *row = body_rows_get(list, i);

                if (row->loaded == CLRSYM_NO_TIME)
                        continue;
                tiers->begin = MIN(tiers->begin, row->loaded);
                tiers->end = MAX(tiers->end, row->loaded);
        }
        for (i = 0; i < list->rows->len; i++)
                jit_tiers_add(tiers, body_rows_get(list, i));
        g_array_sort(tiers->tiers, compare_tiers);
}

void jit_tiers_deinit(JitTiers *tiers)
{
        g_array_unref(tiers->tiers);
}
