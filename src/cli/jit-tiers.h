/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * JIT tiers: what was compiled at which tier, in all and over time
 */

#include "cli/body-list.h"

/* Equal parts of the time from the first load to the last. */
#define JIT_N_STEPS 10

typedef struct JitSum {
        uint64_t n_bodies;
        uint64_t n_live;
        uint64_t n_bytes; /* of those that live */
        uint64_t jit_us;  /* in all */
        uint64_t max_us;
        uint64_t n_loads[JIT_N_STEPS]; /* of those whose load was seen */
} JitSum;

typedef struct JitTier {
        const char *name; /* the list's */
        JitSum sum;
} JitTier;

typedef struct JitTiers {
        GArray *tiers; /* owned: JitTier, most bodies first */
        /* Of loads; END < BEGIN: none was seen. */
        uint64_t begin, end;
        uint64_t step_jit_us[JIT_N_STEPS];
} JitTiers;

void jit_tiers_init(JitTiers *tiers, const BodyList *list);
void jit_tiers_deinit(JitTiers *tiers);

/* When a step begins; JIT_N_STEPS: when the last ends. */
uint64_t jit_tiers_step(const JitTiers *tiers, unsigned step);
