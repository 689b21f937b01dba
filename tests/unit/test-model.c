/* SPDX-License-Identifier: MIT */

/*
 * The tracker against a naive list of all records, under random events: both give the same answer
 * to every query. The naive list states the rules of life, death and confidence in the simplest
 * form: arrays with linear searches. With a budget, the test observes which bodies were evicted:
 * only dead bodies may be, and the naive list determines each answer again from the rest. The test
 * prints a mismatch as a script (support/script.h).
 */

#include "support/suite.h"
#include "support/world-steps.h"

#define ALL_KINDS                                                                                  \
        .load = 40, .race = 10, .unload = 30, .unannounced = 4, .module = 6, .r2r = 6,             \
        .rundown = 1, .gap = 1, .away = 1, .life = 1

/* Rows: episodes, steps, span, size; then chances. */
static const Mix MIXES[] = {
        /* All kinds of events, crowded and sparse. */
        {800, 500, 1 << 12, 300, ALL_KINDS, .trace_percent = 5},
        {250, 1500, 1 << 16, 3000, ALL_KINDS, .trace_percent = 5},
        {1000, 400, 1 << 8, 64, ALL_KINDS, .trace_percent = 0},
        /* Loads and unloads only; modules; precompiled code; rundowns. */
        {200, 1500, 1 << 13, 300, .load = 50, .race = 5, .unload = 40, .unannounced = 5},
        {350, 1000, 1 << 14, 300, .load = 40, .race = 5, .unload = 5, .module = 20},
        {250, 1000, 1 << 10, 60, .load = 20, .race = 5, .unload = 10, .unannounced = 4, .r2r = 40,
         .rundown = 1},
        {400, 500, 1 << 13, 200, .load = 40, .race = 5, .unload = 10, .r2r = 4, .rundown = 8,
         .gap = 2},
        /* Losses; short lives. */
        {500, 700, 1 << 12, 200, .load = 40, .race = 5, .unload = 30, .unannounced = 5,
         .rundown = 1, .gap = 10, .away = 4, .life = 1},
        {600, 700, 1 << 11, 200, .load = 40, .race = 5, .unload = 20, .unannounced = 3, .module = 4,
         .rundown = 1, .life = 20, .trace_percent = 20},
        /* Processes with process gaps. */
        {400, 600, 1 << 12, 200, .load = 40, .race = 8, .unload = 20, .unannounced = 2, .r2r = 4,
         .rundown = 8, .gap = 1, .life = 1, .late_percent = 10, .process_gap = 40, .restart = 5},
        /* A tracker from a checkpoint replaces the tracker now and then. */
        {300, 500, 1 << 12, 300, ALL_KINDS, .trace_percent = 5, .late_percent = 10, .restart = 30},
        /* Late events. */
        {650, 600, 1 << 11, 100, ALL_KINDS, .late_percent = 30},
        /* Large bodies. */
        {400, 600, 1 << 25, 1 << 18, ALL_KINDS, .trace_percent = 5},
        /* A small budget: for dead bodies, also late ones; for living bodies; for many
         * processes. */
        {3, 60000, 1 << 16, 300, .load = 40, .race = 5, .unload = 40, .unannounced = 2, .module = 4,
         .r2r = 4, .budget = 2824 << 10},
        {2, 30000, 1 << 16, 300, .load = 40, .race = 5, .unload = 40, .unannounced = 2, .module = 4,
         .r2r = 4, .budget = 2664 << 10, .restart = 2},
        {4, 40000, 1 << 15, 200, .load = 40, .race = 5, .unload = 30, .unannounced = 4, .module = 4,
         .r2r = 4, .gap = 1, .late_percent = 10, .budget = 2664 << 10},
        {4, 12000, 1 << 21, 200, .load = 40, .race = 5, .unload = 10, .unannounced = 2,
         .rundown = 1, .r2r = 10, .gap = 1, .late_percent = 5, .budget = 2664 << 10,
         .refuses = true, .restart = 1},
        {40, 5000, 1 << 14, 300, .load = 40, .race = 5, .unload = 30, .unannounced = 2, .module = 4,
         .r2r = 4, .rundown = 1, .gap = 1, .life = 8, .budget = 2564 << 10, .restart = 2},
};

typedef struct Tally {
        unsigned n_answers[_ANSWER_STATUS_MAX];
        uint64_t n_forgotten, n_dropped, n_refused, n_late, n_steps;
} Tally;

static unsigned episodes_of(const Mix *mix)
{
        unsigned part = suite_has_all_rounds() ? 1 : SUITE_IS_SANITIZED ? 10 : 4;

        return MAX(1, mix->n_episodes / part);
}

static uint32_t draw_number(void *data, uint64_t n)
{
        return g_rand_int(data);
}

/* Runs one history from its seed. Returns NULL, or the first difference. */
static char *run(const Mix *mix, guint32 seed, Tally *tally, GString *log)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
        World w = {.mix = mix,
                   .draw = draw_number,
                   .draw_data = rand,
                   .log = log,
                   .n_answers = tally->n_answers};
        unsigned step;

        world_begin(&w);
        for (step = 0; step < mix->n_steps && !w.failure; step++)
                world_step(&w);
        tally->n_steps += step;
        tally->n_forgotten += w.n_forgotten;
        tally->n_dropped += w.n_dropped;
        tally->n_refused += w.n_refused;
        tally->n_late += w.n_late;
        if (w.failure) {
                char *failure = g_strdup_printf("at step %u: %s", step, w.failure);

                g_free(w.failure);
                w.failure = failure;
        }
        world_end(&w);
        return w.failure;
}

/* Checks that the intended situations of a mix occurred. */
static void check_tally(const Mix *mix, const Tally *tally)
{
        ck_assert_uint_gt(tally->n_answers[ANSWER_OK], tally->n_steps / 8);
        ck_assert_uint_gt(tally->n_answers[ANSWER_UNLOADED], 0);
        ck_assert_uint_gt(tally->n_answers[ANSWER_NOT_YET], 0);
        ck_assert_uint_gt(tally->n_answers[ANSWER_NO_METHOD], 0);
        ck_assert_uint_gt(tally->n_answers[ANSWER_AMBIGUOUS], 0);
        ck_assert_uint_gt(tally->n_answers[ANSWER_PENDING], 0);
        ck_assert_int_eq(tally->n_answers[ANSWER_EVICTED] > 0, mix->budget > 0);
        ck_assert_int_eq(tally->n_forgotten + tally->n_dropped > 0, mix->budget > 0);
        ck_assert_int_eq(tally->n_dropped > 0, mix->budget && mix->life);
        ck_assert_int_eq(tally->n_refused > 0, mix->refuses);
        ck_assert_int_eq(tally->n_late > tally->n_steps / 100, mix->late_percent > 0);
}

START_TEST(test_model)
{
        const Mix *mix = &MIXES[_i];
        unsigned n_episodes = episodes_of(mix), i;
        Tally tally = {0};

        for (i = 0; i < n_episodes; i++) {
                guint32 seed = 1000000 * (guint32)_i + i;
                g_autofree char *failure = run(mix, seed, &tally, NULL);

                if (failure) {
                        g_autoptr(GString) script = g_string_new(NULL);

                        g_free(run(mix, seed, &tally, script));
                        g_printerr("%s", script->str);
                        ck_abort_msg("mix %d, seed %u, %s", _i, seed, failure);
                }
        }
        check_tally(mix, &tally);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("model");
        TCase *tcase = tcase_create("model");

        tcase_set_timeout(tcase, 110);
        tcase_add_loop_test(tcase, test_model, 0, G_N_ELEMENTS(MIXES));
        suite_add_tcase(suite, tcase);
        return suite;
}
