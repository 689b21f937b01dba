/* SPDX-License-Identifier: MIT */

/*
 * When the pace asks a stream: simulated streams, of which the time is known when each sign can be
 * read
 */

#include "feed/live-pace.h"

#include "support/suite.h"

/* All times are in us. */
typedef struct Row {
        const char *what;
        gint64 period;
        gint64 lag;          /* from a tick until its sign can be read */
        unsigned jitter;     /* random addition to the lag */
        gint64 offset;       /* offset of the other clock */
        gint64 drift;        /* drift of the other clock, in ns per period */
        gint64 attached;     /* time of the first question, after a tick */
        unsigned n_full;     /* packets of full buffers in a period */
        unsigned n_backlog;  /* packets at the begin */
        bool has_beacons;    /* false: the sign of a tick is a packet */
        unsigned most_late;  /* limit of the mean delay between a readable sign and the question */
        unsigned most_asked; /* limit of the mean number of questions in a period */
} Row;

enum { N_PERIODS = 400, N_LEARNING = 60 };

static const Row ROWS[] = {
        {"beacons", 100000, 1500, 500, 0, 0, 40000, 0, 0, true, 3000, 3},
        {"packets", 100000, 1500, 500, 0, 0, 40000, 0, 0, false, 3000, 4},
        {"asked first just before a tick", 100000, 1500, 500, 0, 0, 99000, 0, 0, true, 3000, 3},
        {"a clock of another machine", 100000, 1500, 500, G_GINT64_CONSTANT(1) << 50, 0, 40000, 0,
         0, true, 3000, 3},
        {"its clock is slow", 100000, 1500, 500, -77, -10000, 40000, 0, 0, true, 3000, 3},
        {"its clock is quick", 100000, 1500, 500, -77, 10000, 40000, 0, 0, true, 3000, 3},
        {"a busy machine", 100000, 3000, 20000, 0, 0, 40000, 0, 0, true, 5000, 5},
        {"full buffers", 100000, 1500, 500, 0, 0, 40000, 1, 0, false, 3000, 6},
        {"many full buffers", 100000, 1500, 500, 0, 0, 40000, 20, 0, false, 3000, 50},
        {"first a full buffer", 100000, 1500, 500, 0, 0, 1, 1, 0, false, 3000, 6},
        {"a backlog", 100000, 1500, 500, 0, 0, 40000, 0, 1000, false, 3000, 4},
        {"a quick timer", 10000, 1500, 500, 0, 0, 4000, 0, 0, true, 3000, 3},
        {"a slow timer", 1000000, 1500, 500, 0, 0, 400000, 0, 0, true, 3000, 13},
        {"a slow timer, full buffers", 1000000, 1500, 500, 0, 0, 400000, 3, 0, false, 3000, 20},
};

typedef struct Sign {
        gint64 time, readable;
        bool is_tick;
} Sign;

/* Returns all signs of a stream, in order. */
static GArray *row_signs(const Row *row)
{
        GArray *signs = g_array_new(FALSE, FALSE, sizeof(Sign));
        g_autoptr(GRand) random = g_rand_new_with_seed(20261122);
        unsigned i, j;

        for (i = 0; i < row->n_backlog; i++) {
                const Sign old = {.time = (gint64)i - row->n_backlog};

                g_array_append_val(signs, old);
        }
        for (i = 0; i < N_PERIODS; i++) {
                gint64 begin = i * row->period;

                for (j = 0; j <= row->n_full; j++) {
                        gint64 at = begin + j * row->period / (row->n_full + 1);
                        gint64 jitter = g_rand_int_range(random, 0, (gint32)row->jitter);
                        const Sign sign = {.time = at + i * row->drift / 1000,
                                           .readable = at + row->lag + jitter,
                                           .is_tick = j == 0};

                        g_array_append_val(signs, sign);
                }
        }
        return signs;
}

START_TEST(test_pace)
{
        const Row *row = &ROWS[_i];
        g_autoptr(GArray) signs = row_signs(row);
        gint64 now = row->attached, learned = N_LEARNING * row->period, late = 0;
        unsigned n_asked = 0, n_ticks = 0;
        LivePace pace;
        guint i = 0;

        live_pace_init(&pace, row->period);
        while (i < signs->len) {
                const Sign *sign = &g_array_index(signs, Sign, i);

                n_asked += now > learned;
                if (sign->readable > now) {
                        live_pace_take_nothing(&pace, now);
                        ck_assert_int_gt(pace.next, now);
                        now = pace.next;
                        continue;
                }
                if (row->has_beacons) /* the last packet is handed out */
                        while (i + 1 < signs->len && sign[1].readable <= now) {
                                sign++;
                                i++;
                        }
                i++;
                live_pace_take_sign(&pace, now, sign->time + row->offset, sign->is_tick && i > 1);
                if (sign->is_tick && now > learned) {
                        late += now - sign->readable;
                        n_ticks++;
                }
                if (!row->has_beacons)
                        live_pace_go_on(&pace);
                now = MAX(now, pace.next);
        }
        ck_assert_uint_gt(n_ticks, N_PERIODS / 2);
        ck_assert_msg(late / n_ticks <= row->most_late && n_asked / n_ticks <= row->most_asked,
                      "%s: %" G_GINT64_FORMAT " us late, %u questions", row->what, late / n_ticks,
                      n_asked / n_ticks);
}
END_TEST

/* A sign before its clock is known, and a sign with a wrong time. */
START_TEST(test_times_without_sense)
{
        static const gint64 TIMES[] = {G_MININT64, G_MAXINT64 / 1000, G_MININT64 / 1000 + 1, 0, -1};
        LivePace pace;
        gint64 now = 1000;
        size_t i, j;

        live_pace_init(&pace, 100000);
        for (i = 0; i < G_N_ELEMENTS(TIMES); i++)
                for (j = 0; j < G_N_ELEMENTS(TIMES); j++) {
                        live_pace_take_sign(&pace, now, TIMES[i], j % 2);
                        ck_assert(pace.next > now && pace.next <= now + 100000);
                        now = pace.next;
                        live_pace_take_nothing(&pace, now);
                        ck_assert(pace.next > now && pace.next <= now + 100000);
                        live_pace_take_sign(&pace, now, TIMES[j], i % 2);
                        ck_assert(pace.next > now && pace.next <= now + 100000);
                }
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("live-pace");
        TCase *tcase = tcase_create("live-pace");

        tcase_add_loop_test(tcase, test_pace, 0, G_N_ELEMENTS(ROWS));
        tcase_add_test(tcase, test_times_without_sense);
        suite_add_tcase(suite, tcase);
        return suite;
}
