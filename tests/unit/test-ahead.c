/* SPDX-License-Identifier: MIT */

/*
 * Batches that a thread fills: the reader gets each batch once and in order, whichever side is
 * slower.
 */

#include "util/ahead.h"

#include "support/suite.h"

enum { MAX_BATCHES = 5, N_FILLS = 200 };

typedef struct Filler {
        unsigned n_fills; /* number of all batches */
        unsigned n_filled;
        unsigned pause_us; /* pause before a batch is filled */
        unsigned batches[MAX_BATCHES];
} Filler;

static bool filler_fill(void *data, unsigned number)
{
        Filler *filler = data;

        g_usleep(filler->pause_us);
        filler->batches[number] = ++filler->n_filled;
        return filler->n_filled < filler->n_fills;
}

static const struct {
        unsigned n_batches, n_fills;
        unsigned fill_us, take_us; /* time to fill and to read a batch */
} ROWS[] = {
        {1, 1, 0, 0},         {4, 1, 0, 0},       {1, N_FILLS, 0, 0},  {2, N_FILLS, 0, 0},
        {4, N_FILLS, 0, 0},   {5, N_FILLS, 0, 0}, {4, N_FILLS, 50, 0}, {4, N_FILLS, 0, 50},
        {5, N_FILLS, 50, 50}, {4, 2, 1000, 0}, /* fewer batches than the reader waits for */
};

START_TEST(test_order)
{
        Filler filler = {.n_fills = ROWS[_i].n_fills, .pause_us = ROWS[_i].fill_us};
        Ahead *ahead = ahead_new("fill", ROWS[_i].n_batches, filler_fill, &filler);
        unsigned i;

        for (i = 1; i <= ROWS[_i].n_fills; i++) {
                ck_assert_uint_eq(filler.batches[ahead_next(ahead)], i);
                g_usleep(ROWS[_i].take_us);
        }
        ahead_free(ahead);
        ck_assert_uint_eq(filler.n_filled, ROWS[_i].n_fills);
}
END_TEST

/* The reader stops after some batches and frees the queue. */
START_TEST(test_free)
{
        Filler filler = {.n_fills = N_FILLS};
        Ahead *ahead = ahead_new("fill", 4, filler_fill, &filler);
        int i;

        for (i = 1; i <= _i; i++)
                ck_assert_uint_eq(filler.batches[ahead_next(ahead)], (unsigned)i);
        ahead_free(ahead);
        ck_assert_uint_le(filler.n_filled, (unsigned)_i + 4);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("ahead");
        TCase *tcase = tcase_create("ahead");

        tcase_add_loop_test(tcase, test_order, 0, G_N_ELEMENTS(ROWS));
        tcase_add_loop_test(tcase, test_free, 0, 12);
        suite_add_tcase(suite, tcase);
        return suite;
}
