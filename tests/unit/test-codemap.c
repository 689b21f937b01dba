/* SPDX-License-Identifier: MIT */

/*
 * The code map against a naive list of all bodies, under random operations; and the rules of
 * eviction by example.
 */

#include "codemap/codemap.h"

#include "support/suite.h"

/* The same rules in the simplest form: an array with a linear search. */
typedef struct Naive {
        uint64_t start, size, since, until;
        Body *body;
} Naive;

static bool naive_overlaps(const Naive *n, uint64_t start, uint64_t size)
{
        return n->start < start + size && start < n->start + n->size;
}

static const Naive *naive_at(const GArray *list, uint64_t address, uint64_t time)
{
        const Naive *found = NULL;
        guint i;

        for (i = 0; i < list->len; i++) {
                const Naive *n = &g_array_index(list, Naive, i);

                if (address - n->start < n->size && n->since <= time && time < n->until) {
                        ck_assert_msg(!found, "two bodies at one address and time");
                        found = n;
                }
        }
        return found;
}

static void naive_load(GArray *list, Body *body, uint64_t time)
{
        Naive news = {body->start, body_extent(body), time, BODY_FOREVER, body};
        guint i;

        for (i = 0; i < list->len; i++) {
                Naive *n = &g_array_index(list, Naive, i);

                if (!naive_overlaps(n, news.start, news.size))
                        continue;
                if (n->since > time)
                        news.until = MIN(news.until, n->since);
                else if (n->until > time)
                        n->until = time;
        }
        g_array_append_val(list, news);
}

static void check_same(const CodeMap *map, const GArray *list, uint64_t address, uint64_t time)
{
        const Naive *expected = naive_at(list, address, time);
        const Body *got = codemap_at(map, address, time);

        ck_assert_ptr_eq(got, expected ? expected->body : NULL);
        if (time == BODY_FOREVER - 1)
                ck_assert_ptr_eq(codemap_live(map, address), got);
}

static void check_neighbours(const CodeMap *map, const GArray *list, uint64_t address,
                             uint64_t time)
{
        uint64_t before = 0, after = BODY_FOREVER;
        Body *got_before, *got_after;
        guint i;

        for (i = 0; i < list->len; i++) {
                const Naive *n = &g_array_index(list, Naive, i);

                if (address - n->start >= n->size || n->since == n->until)
                        continue;
                if (n->until <= time)
                        before = MAX(before, n->until);
                if (n->since > time)
                        after = MIN(after, n->since);
        }
        codemap_neighbours(map, address, time, &got_before, &got_after);
        ck_assert_uint_eq(got_before ? got_before->until : 0, before);
        ck_assert_uint_eq(got_after ? got_after->since : BODY_FOREVER, after);
}

static gint compare_newest_first(gconstpointer a, gconstpointer b)
{
        const Naive *x = a, *y = b;

        if (x->since != y->since)
                return x->since > y->since ? -1 : 1;
        return x->body->number > y->body->number ? -1 : x->body->number < y->body->number;
}

/* Walks through all bodies of the history, at most MOST at a time, and compares them with LIST. */
static void check_history(const CodeMap *map, const GArray *list, uint64_t address, guint most)
{
        g_autoptr(GArray) expected = g_array_new(FALSE, FALSE, sizeof(Naive));
        g_autoptr(GPtrArray) got = g_ptr_array_new(), newest = g_ptr_array_new();
        HistoryPlace place = HISTORY_NEWEST;
        guint i, n_before;

        for (i = 0; i < list->len; i++) {
                const Naive *n = &g_array_index(list, Naive, i);

                if (address - n->start < n->size)
                        g_array_append_val(expected, *n);
        }
        g_array_sort(expected, compare_newest_first);
        do {
                n_before = got->len;
        } while (codemap_history(map, address, &place, most, got) && got->len - n_before <= most);
        ck_assert_uint_eq(got->len, expected->len);
        ck_assert_uint_eq(codemap_newest(map, address, most, newest), expected->len);
        ck_assert_uint_eq(newest->len, MIN(most, expected->len));
        for (i = 0; i < got->len; i++)
                ck_assert_ptr_eq(got->pdata[i], g_array_index(expected, Naive, i).body);
        for (i = 0; i < newest->len; i++)
                ck_assert_ptr_eq(newest->pdata[i], got->pdata[i]);
}

/* Rows: how crowded the map is, the size of bodies, the share of late loads, and whether bodies are
 * evicted. */
static const struct {
        uint64_t span;
        uint32_t max_size;
        int late_percent;
        bool forgets;
} MODELS[] = {
        {1 << 8, 64, 0, false},
        {1 << 12, 300, 0, false},
        {1 << 16, 5000, 0, true},
        {1 << 20, 1 << 19, 0, false},
        {1 << 10, 40, 30, false},
        {1 << 14, 2000, 100, false},
        {4, 1, 10, true},
        {1 << 10, 100, 20, true},
        {1 << 25, 1 << 18, 20, true},
        {UINT32_MAX, 1 << 30, 0, true},
};

START_TEST(test_model)
{
        g_autoptr(GRand) rand = g_rand_new_with_seed(1000 + (guint32)_i);
        g_autoptr(GArray) list = g_array_new(FALSE, FALSE, sizeof(Naive));
        const uint64_t base = UINT64_C(0x7f12345600f0);
        Account account = {0};
        Strtab *names = strtab_new(&account);
        CodeMap *map = codemap_new(names, &account);
        uint64_t now = 1000;
        int step;

        for (step = 0; step < 4000; step++) {
                uint64_t address = base + g_rand_int(rand) % MODELS[_i].span, time;
                const Naive *n;

                now += g_rand_int(rand) % 3;
                switch (g_rand_int(rand) % 4) {
                case 0:
                case 1: {
                        Body news = {.start = address,
                                     .size = 1 + g_rand_int(rand) % MODELS[_i].max_size,
                                     .source = BODY_SOURCE_LOAD};

                        time = now;
                        if ((int)(g_rand_int(rand) % 100) < MODELS[_i].late_percent)
                                time -= g_rand_int(rand) % 500;
                        naive_load(list, codemap_insert(map, &news, time), time);
                        break;
                }
                case 2:
                        n = naive_at(list, address, BODY_FOREVER - 1);
                        if (!n)
                                break;
                        codemap_end(map, n->body, now, BODY_END_UNLOAD);
                        ((Naive *)n)->until = MAX(now, n->since);
                        break;
                default:
                        if (!list->len || !MODELS[_i].forgets)
                                break;
                        {
                                guint i = g_rand_int(rand) % list->len;

                                codemap_remove(map, g_array_index(list, Naive, i).body);
                                g_array_remove_index(list, i);
                        }
                        break;
                }
                time = 900 + g_rand_int(rand) % (uint32_t)(now - 800);
                address = base + g_rand_int(rand) % MODELS[_i].span;
                check_same(map, list, address, time);
                check_same(map, list, address, now);
                check_same(map, list, address, BODY_FOREVER - 1);
                check_neighbours(map, list, address, time);
                if (step % 8 == 0)
                        check_history(map, list, address, 1 + g_rand_int(rand) % 20);
        }
        ck_assert_uint_eq(codemap_n_bodies(map), list->len);
        codemap_free(map);
        strtab_free(names);
        ck_assert_uint_eq(account.n_bytes, 0);
}
END_TEST

static Body *insert(CodeMap *map, BodySource source, uint64_t start, uint32_t size, uint64_t time)
{
        const Body body = {.start = start, .size = size, .source = source};

        return codemap_insert(map, &body, time);
}

START_TEST(test_unload_only)
{
        Account account = {0};
        Strtab *names = strtab_new(&account);
        CodeMap *map = codemap_new(names, &account);
        Body *a = insert(map, BODY_SOURCE_LOAD, 0x1000, 0x10, 10), *b;

        codemap_end(map, a, 20, BODY_END_UNLOAD);
        /* B is known only from its unload at 50: B was loaded before, but not before the end of
         * A. */
        b = insert(map, BODY_SOURCE_UNLOAD, 0x1008, 0x10, 50);
        ck_assert_ptr_eq(codemap_at(map, 0x1008, 15), a);
        ck_assert_ptr_eq(codemap_at(map, 0x1008, 20), b);
        ck_assert_ptr_eq(codemap_at(map, 0x1008, 49), b);
        ck_assert_ptr_null(codemap_at(map, 0x1008, 50));
        ck_assert_uint_eq(codemap_n_live(map), 0);
        codemap_free(map);
        strtab_free(names);
        ck_assert_uint_eq(account.n_bytes, 0);
}
END_TEST

START_TEST(test_unload_under_living)
{
        Account account = {0};
        Strtab *names = strtab_new(&account);
        CodeMap *map = codemap_new(names, &account);
        Body *live = insert(map, BODY_SOURCE_LOAD, 0x1000, 0x10, 10);
        Body *old = insert(map, BODY_SOURCE_UNLOAD, 0x1000, 0x20, 50);

        /* The unload belongs to a body that must have ended before the load of the living body. */
        ck_assert_ptr_eq(codemap_at(map, 0x1000, 5), old);
        ck_assert_ptr_eq(codemap_at(map, 0x1000, 30), live);
        ck_assert_ptr_eq(codemap_live(map, 0x1000), live);
        codemap_free(map);
        strtab_free(names);
        ck_assert_uint_eq(account.n_bytes, 0);
}
END_TEST

START_TEST(test_rundown_reaches_back)
{
        Account account = {0};
        Strtab *names = strtab_new(&account);
        CodeMap *map = codemap_new(names, &account);
        Body *a = insert(map, BODY_SOURCE_LOAD, 0x1000, 0x10, 10);
        Body *b = insert(map, BODY_SOURCE_RUNDOWN, 0x1000, 0x40, 100);

        ck_assert_ptr_eq(codemap_at(map, 0x1000, 99), a);
        ck_assert_int_eq(a->end, BODY_END_REPLACED);
        ck_assert_ptr_eq(codemap_at(map, 0x1000, 100), b);
        ck_assert_uint_eq(b->since, 100);
        b = insert(map, BODY_SOURCE_RUNDOWN, 0x2000, 0x40, 100);
        ck_assert_ptr_eq(codemap_at(map, 0x2010, 1), b);
        codemap_free(map);
        strtab_free(names);
        ck_assert_uint_eq(account.n_bytes, 0);
}
END_TEST

START_TEST(test_extent)
{
        Account account = {0};
        Strtab *names = strtab_new(&account);
        CodeMap *map = codemap_new(names, &account);
        Body *entry = insert(map, BODY_SOURCE_R2R_ENTRY, 0x1000, 0, 10);

        ck_assert_ptr_eq(codemap_at(map, 0x1000, 10), entry);
        ck_assert_ptr_null(codemap_at(map, 0x1001, 10));
        codemap_resize(map, entry, 0x100, 20);
        ck_assert_ptr_eq(codemap_at(map, 0x10ff, 10), entry);
        ck_assert_ptr_eq(codemap_live(map, 0x10ff), entry);
        ck_assert_ptr_null(codemap_live(map, 0x1100));
        codemap_free(map);
        strtab_free(names);
        ck_assert_uint_eq(account.n_bytes, 0);
}
END_TEST

START_TEST(test_edges_of_the_address_space)
{
        Account account = {0};
        Strtab *names = strtab_new(&account);
        CodeMap *map = codemap_new(names, &account);
        const uint64_t last = (UINT64_C(1) << 63) - 1;
        Body *low = insert(map, BODY_SOURCE_LOAD, 0, 1, 1);
        Body *high = insert(map, BODY_SOURCE_LOAD, last - UINT32_MAX, UINT32_MAX, 1);

        ck_assert_ptr_eq(codemap_live(map, 0), low);
        ck_assert_ptr_eq(codemap_live(map, last - 1), high);
        ck_assert_ptr_null(codemap_live(map, last));
        ck_assert_ptr_null(codemap_live(map, UINT64_MAX));
        ck_assert_ptr_null(codemap_at(map, UINT64_MAX, 5));
        codemap_free(map);
        strtab_free(names);
        ck_assert_uint_eq(account.n_bytes, 0);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("codemap");
        TCase *tcase = tcase_create("codemap");

        tcase_set_timeout(tcase, 60);
        tcase_add_loop_test(tcase, test_model, 0, G_N_ELEMENTS(MODELS));
        tcase_add_test(tcase, test_unload_only);
        tcase_add_test(tcase, test_unload_under_living);
        tcase_add_test(tcase, test_rundown_reaches_back);
        tcase_add_test(tcase, test_extent);
        tcase_add_test(tcase, test_edges_of_the_address_space);
        suite_add_tcase(suite, tcase);
        return suite;
}
