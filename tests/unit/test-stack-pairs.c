/* SPDX-License-Identifier: MIT */

/* The copy of a stack that belongs to a sample, and the stack that results from the callers of
 * both. */

#include "unwind/stack-pairs.h"
#include "support/suite.h"

#include <string.h>

static const StackPair ROWS[] = {
        {5000000, 1, 8}, {1000000, 2, 7}, {1000020, 3, 8}, {3000000, 4, 7}, {3200000, 5, 7},
};

static const struct {
        int32_t tid;
        uint64_t time, offset; /* OFFSET 0: no copy */
} QUESTIONS[] = {
        {7, 1000007, 2}, {7, 999990, 2},     {8, 1000000, 3}, {8, 1000050, 3}, {7, 3099999, 4},
        {7, 3100001, 5}, {7, 3500000, 5},    {7, 3500001, 0}, {7, 2000000, 0}, {9, 1000000, 0},
        {7, 0, 0},       {8, UINT64_MAX, 0}, {8, 4700000, 1},
};

START_TEST(test_find)
{
        StackPairs pairs;
        size_t i;

        stack_pairs_init(&pairs, NULL);
        pairs.apart = 300000;
        ck_assert_ptr_null(stack_pairs_find(&pairs, 7, 1000000));
        for (i = 0; i < G_N_ELEMENTS(ROWS); i++)
                stack_pairs_add(&pairs, &ROWS[i]);
        for (i = 0; i < G_N_ELEMENTS(QUESTIONS); i++) {
                const StackPair *row =
                        stack_pairs_find(&pairs, QUESTIONS[i].tid, QUESTIONS[i].time);

                ck_assert_msg((row ? row->offset : 0) == QUESTIONS[i].offset, "question %zu", i);
        }
        stack_pairs_deinit(&pairs);
}
END_TEST

/* Letters are addresses, the leaf first. */
static const struct {
        const char *copied, *chain, *merged;
        size_t last; /* index in COPIED of the last common frame */
} MERGES[] = {
        {"abcd", "acdefg", "abcdefg", 3}, /* the leaf's caller is missing in the chain */
        {"abcd", "abcdefg", "abcdefg", 3},
        {"abcx", "acdefg", "abcdefg", 2},  /* the copy's last frame was no caller */
        {"arrr", "arrrrrm", "arrrrrm", 3}, /* a recursive method */
        {"abrrr", "arrrrrm", "abrrrrrm", 4},
        {"abcd", "ab", "ab", 1},     /* the chain ends first */
        {"abcd", "axyz", "abcd", 4}, /* no common frame */
        {"a", "abc", "a", 1},
        {"abcd", "", "abcd", 4},
        {"abcdefghij", "ajklmnopqrstuvw", "abcdefghijkl", 9}, /* no room for more frames */
};
enum { MAX = 12 };

static size_t addresses(const char *letters, uint64_t *ret)
{
        size_t i;

        for (i = 0; letters[i]; i++)
                ret[i] = (uint8_t)letters[i];
        return i;
}

START_TEST(test_merge)
{
        uint64_t callers[MAX], chain[20], merged[20];
        size_t last;
        const size_t n = addresses(MERGES[_i].copied, callers);
        const size_t n_chain = addresses(MERGES[_i].chain, chain);
        const size_t n_merged = addresses(MERGES[_i].merged, merged);

        ck_assert_uint_eq(stack_pair_merge(callers, n, MAX, chain, n_chain, &last), n_merged);
        ck_assert_uint_eq(last, MERGES[_i].last);
        ck_assert_mem_eq(callers, merged, n_merged * sizeof(*merged));
}
END_TEST

START_TEST(test_attributes)
{
        const struct perf_event_attr chains = {.type = PERF_TYPE_SOFTWARE,
                                               .freq = 1,
                                               .sample_freq = 499,
                                               .sample_type = PERF_SAMPLE_CALLCHAIN |
                                                              PERF_SAMPLE_TID | PERF_SAMPLE_TIME};
        struct perf_event_attr copies = chains, other = chains;

        copies.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
        ck_assert(stack_pairs_are(&chains, &copies));
        ck_assert(!stack_pairs_are(&copies, &chains));
        ck_assert(!stack_pairs_are(&copies, &copies));
        ck_assert(!stack_pairs_are(&chains, &other));
        copies.sample_freq = 97;
        ck_assert(!stack_pairs_are(&chains, &copies));
        copies.sample_freq = 499;
        other.type = PERF_TYPE_HARDWARE;
        ck_assert(!stack_pairs_are(&other, &copies));
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("stack-pairs");
        TCase *tcase = tcase_create("stack-pairs");

        tcase_add_test(tcase, test_find);
        tcase_add_loop_test(tcase, test_merge, 0, G_N_ELEMENTS(MERGES));
        tcase_add_test(tcase, test_attributes);
        suite_add_tcase(suite, tcase);
        return suite;
}
