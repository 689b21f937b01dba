/* SPDX-License-Identifier: MIT */

/*
 * Keys that a traced program has chosen to fall into one slot of a table take no longer than other
 * keys. Each set of keys collides under an unseeded hash.
 */

#include "codemap/codemap.h"
#include "tracker/process.h"

#include "support/suite.h"
#include "util/hash.h"

#include <string.h>
#include <time.h>

enum { N_KEYS = 30000, N_PAIRS = 14 };

/* The inverse of 0x9e3779b97f4a7c15 modulo 2^64. */
#define INVERSE UINT64_C(0xf1de83e19937733d)

/* Inserts N hostile or ordinary keys, and removes them. */
typedef void (*Fill)(bool is_hostile);

static double cpu_seconds(void)
{
        struct timespec now;

        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
        return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static uint64_t hostile_number(uint64_t i, bool is_hostile)
{
        return is_hostile ? i * INVERSE : i * UINT64_C(0x10003) + 0x7f0000000000;
}

static void fill_bodies(bool is_hostile)
{
        Account account = {0};
        Strtab *names = strtab_new(&account);
        CodeMap *map = codemap_new(names, &account);
        uint64_t i;

        for (i = 1; i <= N_KEYS; i++) {
                const Body body = {.source = BODY_SOURCE_LOAD,
                                   .start = i * 0x1000,
                                   .size = 16,
                                   .method_id = hostile_number(i, is_hostile)};

                codemap_insert(map, &body, i);
        }
        codemap_free(map);
        strtab_free(names);
}

/* Pairs of MethodID and native code version with equal sums. */
static void fill_versions(bool is_hostile)
{
        Account account = {0};
        Strtab *names = strtab_new(&account);
        CodeMap *map = codemap_new(names, &account);
        uint64_t i;

        for (i = 1; i <= N_KEYS; i++) {
                const Body body = {.source = BODY_SOURCE_LOAD,
                                   .start = i * 0x1000,
                                   .size = 16,
                                   .rejit_id = (uint32_t)i,
                                   .method_id = is_hostile ? UINT32_MAX - i : i * 0x10003};

                codemap_insert(map, &body, i);
        }
        codemap_free(map);
        strtab_free(names);
}

static void fill_pages(bool is_hostile)
{
        Account account = {0};
        Strtab *names = strtab_new(&account);
        CodeMap *map = codemap_new(names, &account);
        uint64_t i;

        for (i = 1; i <= N_KEYS; i++) {
                const Body body = {.source = BODY_SOURCE_LOAD,
                                   .start = (hostile_number(i, is_hostile) & 0x3ffffffffffff) << 12,
                                   .size = 16,
                                   .method_id = i};

                codemap_insert(map, &body, i);
        }
        codemap_free(map);
        strtab_free(names);
}

/* Names in which two words cancel each other in a sum of words, for every seed; all
 * combinations. */
static void fill_names(bool is_hostile)
{
        Account account = {0};
        Strtab *names = strtab_new(&account);
        uint64_t words[2 * N_PAIRS];
        uint32_t i;
        unsigned k;

        for (i = 0; i < 1u << N_PAIRS; i++) {
                for (k = 0; k < N_PAIRS; k++) {
                        bool is_set = i >> k & 1;

                        words[2 * k] = 0x4141414141414141 ^ (is_set ? UINT64_C(1) << 63 : 0);
                        words[2 * k + 1] = 0x4141414141414141 ^
                                           (is_set ? UINT64_C(1) << 63 | UINT64_C(1) << 34 : 0);
                        if (!is_hostile)
                                words[2 * k + 1] += i;
                }
                strtab_add(names, (const char *)words, sizeof(words));
        }
        strtab_free(names);
}

static void fill_modules(bool is_hostile)
{
        Account account = {0};
        Strtab *names = strtab_new(&account);
        Process *process = process_new(names, &account, (ProcessKey){1, 1}, 1, 1);
        uint64_t i;

        for (i = 1; i <= N_KEYS; i++)
                process_module(process, is_hostile ? i << 32 | (uint32_t)i : i * 0x10003, 1);
        process_free(process);
        strtab_free(names);
}

static void fill_il_maps(bool is_hostile)
{
        Account account = {0};
        Strtab *names = strtab_new(&account);
        Process *process = process_new(names, &account, (ProcessKey){1, 1}, 1, 1);
        uint64_t i;

        for (i = 1; i <= N_KEYS; i++)
                process_keep_il_map(process, is_hostile ? i : i * 0x10003, is_hostile ? i : 1,
                                    ilmap_new(NULL, NULL, 0, 0));
        process_free(process);
        strtab_free(names);
}

static void fill_processes(bool is_hostile)
{
        g_autoptr(GHashTable) table =
                g_hash_table_new_full(process_key_hash, process_key_equal, g_free, NULL);
        uint64_t i;

        for (i = 1; i <= N_KEYS; i++) {
                const ProcessKey key = {is_hostile ? i : 1, (int32_t)i};

                g_hash_table_add(table, g_memdup2(&key, sizeof(key)));
        }
}

static const Fill FILLS[] = {fill_bodies,  fill_versions, fill_pages,    fill_names,
                             fill_modules, fill_il_maps,  fill_processes};

START_TEST(test_hostile_keys)
{
        double begin = cpu_seconds(), ordinary, hostile;

        FILLS[_i](false);
        ordinary = cpu_seconds() - begin;
        begin = cpu_seconds();
        FILLS[_i](true);
        hostile = cpu_seconds() - begin;
        ck_assert_msg(hostile < 5 * ordinary + 0.1, "%g s, ordinary keys: %g s", hostile, ordinary);
}
END_TEST

/* The reference vectors of SipHash-1-3: key 00 01 .. 0f, input 00 01 02 ... */
START_TEST(test_siphash)
{
        static const uint64_t EXPECTED[] = {UINT64_C(0xabac0158050fc4dc),
                                            UINT64_C(0xc9f49bf37d57ca93)};
        const uint64_t before[2] = {hash_seed[0], hash_seed[1]};
        const uint8_t bytes[] = {0, 1, 2, 3};
        size_t n;

        hash_seed[0] = UINT64_C(0x0706050403020100);
        hash_seed[1] = UINT64_C(0x0f0e0d0c0b0a0908);
        for (n = 0; n < G_N_ELEMENTS(EXPECTED); n++)
                ck_assert_uint_eq(hash_bytes(bytes, n), EXPECTED[n]);
        hash_seed[0] = before[0];
        hash_seed[1] = before[1];
}
END_TEST

START_TEST(test_seed)
{
        ck_assert_uint_ne(hash_seed[0], 0);
        ck_assert_uint_ne(hash_seed[1], hash_seed[0]);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("hash");
        TCase *tcase = tcase_create("hash");

        tcase_set_timeout(tcase, 60);
        tcase_add_test(tcase, test_seed);
        tcase_add_test(tcase, test_siphash);
        tcase_add_loop_test(tcase, test_hostile_keys, 0, G_N_ELEMENTS(FILLS));
        suite_add_tcase(suite, tcase);
        return suite;
}
