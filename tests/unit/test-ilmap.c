/* SPDX-License-Identifier: MIT */
#include "codemap/ilmap.h"

#include "event/event.h"
#include "support/suite.h"

/* A map in the runtime's order: not sorted by native offset, special entries last. */
static const int32_t IL[] = {0, 7, 2, IL_OFFSET_EPILOG, IL_OFFSET_PROLOG, IL_OFFSET_NO_MAPPING, 9};
static const uint32_t NATIVE[] = {12, 40, 25, 70, 0, 33, 40};

static const struct {
        uint32_t native;
        int32_t il;
} ROWS[] = {
        {0, IL_OFFSET_PROLOG},
        {11, IL_OFFSET_PROLOG},
        {12, 0},
        {24, 0},
        {25, 2},
        {33, IL_OFFSET_NO_MAPPING},
        {39, IL_OFFSET_NO_MAPPING},
        {40, 7}, /* two entries at one native offset: the lower IL offset wins, as in the runtime */
        {69, 7},
        {70, IL_OFFSET_EPILOG},
        {UINT32_MAX, IL_OFFSET_EPILOG},
};

START_TEST(test_lookup)
{
        IlMap *map = ilmap_new((const uint8_t *)IL, (const uint8_t *)NATIVE, G_N_ELEMENTS(IL), 5);
        int32_t il;

        ck_assert(ilmap_lookup(map, ROWS[_i].native, &il));
        ck_assert_int_eq(il, ROWS[_i].il);
        ck_assert_uint_eq(ilmap_version(map), 5);
        ck_assert_uint_eq(ilmap_n_entries(map), G_N_ELEMENTS(IL));
        ilmap_free(map);
}
END_TEST

START_TEST(test_nothing_said)
{
        const uint32_t native = 5;
        const int32_t il = INT32_MIN;
        IlMap *map = ilmap_new(NULL, NULL, 0, 0);
        int32_t got;

        ck_assert(!ilmap_lookup(map, 0, &got));
        ilmap_free(map);
        map = ilmap_new((const uint8_t *)&il, (const uint8_t *)&native, 1, 0);
        ck_assert(!ilmap_lookup(map, 4, &got));
        ck_assert(ilmap_lookup(map, 5, &got));
        ck_assert_int_eq(got, INT32_MIN);
        ilmap_free(map);
}
END_TEST

START_TEST(test_many)
{
        enum { N = 65535 };
        g_autofree uint32_t *il = g_new(uint32_t, N), *native = g_new(uint32_t, N);
        IlMap *map;
        int32_t got;
        uint32_t i;

        for (i = 0; i < N; i++) {
                il[i] = i * 2654435761u;
                native[i] = (N - 1 - i) * 65537u;
        }
        map = ilmap_new((const uint8_t *)il, (const uint8_t *)native, N, UINT64_MAX);
        for (i = 0; i < N; i += 4099) {
                ck_assert(ilmap_lookup(map, native[i] + 3, &got));
                ck_assert_int_eq(got, (int32_t)il[i]);
        }
        ck_assert_uint_eq(ilmap_version(map), UINT64_MAX);
        ilmap_free(map);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("ilmap");
        TCase *tcase = tcase_create("ilmap");

        tcase_add_loop_test(tcase, test_lookup, 0, G_N_ELEMENTS(ROWS));
        tcase_add_test(tcase, test_nothing_said);
        tcase_add_test(tcase, test_many);
        suite_add_tcase(suite, tcase);
        return suite;
}
