/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * JIT tiers: what was compiled at which tier, over all and over time
 */

#include "cli/body-rows.h"

/* Equal parts of the time from the first load to the last. */
#define JIT_N_STEPS 10

typedef struct JitSum {
        uint64_t n_bodies;
        uint64_t n_live;
        uint64_t n_bytes; /* of the live bodies */
        uint64_t jit_us;  /* total */
        uint64_t max_us;
        uint64_t n_loads[JIT_N_STEPS]; /* of the bodies whose load was seen */
} JitSum;

typedef struct JitTier {
        const char *name; /* the list owns it */
        JitSum sum;
} JitTier;

typedef struct JitTiers {
        GArray *tiers; /* owned: JitTier, most bodies first */
        /* The first and the last load; END < BEGIN: no load was seen. */
        uint64_t begin, end;
        uint64_t step_jit_us[JIT_N_STEPS];
} JitTiers;

void jit_tiers_init(JitTiers *tiers, const BodyRows *list);
void jit_tiers_deinit(JitTiers *tiers);

/* The time at which STEP begins; for JIT_N_STEPS, at which the last one ends. */
uint64_t jit_tiers_step(const JitTiers *tiers, unsigned step);
