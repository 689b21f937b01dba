/* SPDX-License-Identifier: MIT */

/* Samples in the order of time: compared with one sort of all samples */

#include "unwind/sample-queue.h"

#include "unwind/stack-pairs.h"
#include "support/suite.h"

enum { N_ROUNDS = 200, N_EACH = 50, ROUND_NS = 100000000, APART = STACK_PAIR_APART };

typedef struct Taken {
        GArray *times; /* array of uint64_t */
        guint limit;   /* number of samples to take; 0: all */
} Taken;

static bool take_time(const QueuedSample *sample, void *data)
{
        Taken *taken = data;

        if (sample->time != UINT64_MAX)
                ck_assert_uint_eq(sample->n_chain, sample->time % 7);
        if (sample->n_chain && sample->time != UINT64_MAX)
                ck_assert_uint_eq(sample->chain[sample->n_chain - 1], sample->time);
        g_array_append_val(taken->times, sample->time);
        return taken->times->len != taken->limit;
}

static bool add_sample(SampleQueue *queue, uint64_t time)
{
        const uint64_t chain[6] = {time, time, time, time, time, time};
        const QueuedSample sample = {.time = time, .n_chain = (uint32_t)(time % 7)};

        return sample_queue_add(queue, &sample, chain);
}

static int time_compare(gconstpointer one, gconstpointer other)
{
        const uint64_t *a = one, *b = other;

        return (*a > *b) - (*a < *b);
}

/* Rounds overlap by one round, as perf's do, and some samples have the time of their copy. */
START_TEST(sorts_rounds)
{
        g_autoptr(GArray) want = g_array_new(FALSE, FALSE, sizeof(uint64_t));
        Taken taken = {.times = g_array_new(FALSE, FALSE, sizeof(uint64_t))};
        GRand *random = g_rand_new_with_seed(7);
        SampleQueue queue;
        guint n_waiting = 0;
        int i, j;

        sample_queue_init(&queue, take_time, &taken);
        for (i = 0; i < N_ROUNDS; i++) {
                for (j = 0; j < N_EACH; j++) {
                        uint64_t time = (uint64_t)(i + 1) * ROUND_NS +
                                        (uint64_t)g_rand_int_range(random, 0, 2 * ROUND_NS);

                        if (j % 4 == 0)
                                time += (uint64_t)g_rand_int_range(random, -APART, APART + 1);

                        g_array_append_val(want, time);
                        ck_assert(add_sample(&queue, time));
                }
                ck_assert(sample_queue_round(&queue));
                n_waiting = MAX(n_waiting, queue.heap->len);
        }
        ck_assert(sample_queue_end(&queue));
        g_array_sort(want, time_compare);
        ck_assert_uint_eq(taken.times->len, want->len);
        ck_assert_mem_eq(taken.times->data, want->data, want->len * sizeof(uint64_t));
        ck_assert_uint_le(n_waiting, 3 * N_EACH);
        sample_queue_deinit(&queue);
        g_array_unref(taken.times);
        g_rand_free(random);
}
END_TEST

/* Without rounds: samples of equal time, or without time, keep the order of the file. */
START_TEST(keeps_the_order_of_the_file)
{
        static const uint64_t ADDED[] = {5, 5, UINT64_MAX, 4, UINT64_MAX};
        static const uint64_t WANT[] = {4, 5, 5, UINT64_MAX, UINT64_MAX};
        Taken taken = {.times = g_array_new(FALSE, FALSE, sizeof(uint64_t))};
        SampleQueue queue;
        size_t i;

        sample_queue_init(&queue, take_time, &taken);
        for (i = 0; i < G_N_ELEMENTS(ADDED); i++) {
                const uint64_t chain[5] = {5, 5, 5, 5, 5};
                const QueuedSample sample = {.time = ADDED[i], .n_chain = ADDED[i] == 4 ? 4u : 5u};

                ck_assert(ADDED[i] == 4 ? add_sample(&queue, 4)
                                        : sample_queue_add(&queue, &sample, chain));
        }
        ck_assert(sample_queue_end(&queue));
        ck_assert_mem_eq(taken.times->data, WANT, sizeof(WANT));
        sample_queue_deinit(&queue);
        g_array_unref(taken.times);
}
END_TEST

START_TEST(ends_when_it_is_told)
{
        Taken taken = {.times = g_array_new(FALSE, FALSE, sizeof(uint64_t)), .limit = 2};
        SampleQueue queue;
        uint64_t i;

        sample_queue_init(&queue, take_time, &taken);
        for (i = 0; i < 5; i++)
                ck_assert(add_sample(&queue, i));
        ck_assert(!sample_queue_end(&queue));
        ck_assert_uint_eq(taken.times->len, 2);
        sample_queue_deinit(&queue);
        g_array_unref(taken.times);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("sample-queue");
        TCase *tests = tcase_create("sample-queue");

        tcase_add_test(tests, sorts_rounds);
        tcase_add_test(tests, keeps_the_order_of_the_file);
        tcase_add_test(tests, ends_when_it_is_told);
        suite_add_tcase(suite, tests);
        return suite;
}
