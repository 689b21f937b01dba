/* SPDX-License-Identifier: MIT */

/*
 * The tracker against the naive model (support/naive.h): u8 mix, then the source of its random
 * numbers. Both give the same answer to each query.
 */

#include "fuzz.h"
#include "support/world-steps.h"

/* A low limit, because the naive model searches all records for each query. */
enum { MAX_STEPS = 400 };

#define ALL_KINDS                                                                                  \
        .load = 40, .race = 10, .unload = 30, .unannounced = 4, .module = 6, .r2r = 6,             \
        .rundown = 2, .gap = 2, .away = 2, .life = 2

static const Mix MIXES[] = {
        {.span = 1 << 8, .max_size = 64, ALL_KINDS, .trace_percent = 5},
        {.span = 1 << 12, .max_size = 300, ALL_KINDS, .trace_percent = 5, .late_percent = 20},
        {.span = 1 << 8, .max_size = 64, ALL_KINDS, .process_gap = 60, .restart = 20},
        {.span = 1 << 25, .max_size = 1 << 18, ALL_KINDS, .late_percent = 10, .restart = 20},
};

static uint32_t draw_bytes(void *data, uint64_t n)
{
        return (uint32_t)fuzz_take(data, n <= 1 << 8 ? 1 : n <= 1 << 16 ? 2 : 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        FuzzInput input = {data, size};
        const Mix *mix = &MIXES[fuzz_take(&input, 1) % G_N_ELEMENTS(MIXES)];
        unsigned n_answers[_ANSWER_STATUS_MAX] = {0}, n_steps;
        World w = {.mix = mix, .draw = draw_bytes, .draw_data = &input, .n_answers = n_answers};

        if (size > FUZZ_MAX_INPUT)
                return 0;
        world_begin(&w);
        for (n_steps = 0; input.n > 0 && n_steps < MAX_STEPS && !w.failure; n_steps++)
                world_step(&w);
        world_end(&w);
        if (w.failure)
                fprintf(stderr, "%s\n", w.failure);
        FUZZ_REQUIRE(!w.failure);
        return 0;
}
