/* SPDX-License-Identifier: MIT */

/* No two names become one, except for the cases in name.h. */

#include "names/name.h"

#include "support/raw-names.h"
#include "support/suite.h"

#include <string.h>

#define SEED 20240917

typedef GHashTable Names; /* csharp -> clr as in excepted(); both owned */

static char *formatted(const RawName *raw, NameStyle style)
{
        size_t n = name_format(raw, style, NULL, 0) + 1;
        char *name = g_malloc(n);

        name_format(raw, style, name, n);
        return name;
}

/* Returns the clr style without the parts that C# cannot write. */
static char *excepted(const RawName *raw)
{
        g_autofree char *name_space = g_strdelimit(g_strdup(raw->name_space), "+", '.');
        const RawName with = {
                .name_space = name_space, .name = raw->name, .signature = raw->signature};
        char *name = formatted(&with, NAME_STYLE_CLR), *at = name;

        while ((at = strstr(at, "value class ")))
                memmove(at, at + strlen("value "), strlen(at + strlen("value ")) + 1);
        return name;
}

static Names *names_new(void)
{
        return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
}

static void names_add(Names *names, const char *name_space, const char *name, const char *result,
                      const char *arguments)
{
        g_autofree char *signature = g_strdup_printf("%s  (%s)", result, arguments);
        const RawName raw = {.name_space = name_space, .name = name, .signature = signature};
        g_autofree char *csharp = formatted(&raw, NAME_STYLE_CSHARP), *clr = excepted(&raw);
        const char *other = g_hash_table_lookup(names, csharp);

        if (!other)
                g_hash_table_insert(names, g_steal_pointer(&csharp), g_steal_pointer(&clr));
        else if (strcmp(other, clr) != 0)
                ck_abort_msg("%s is both %s and %s", csharp, other, clr);
}

/* Adds all sequences of up to N pieces in one place of a name. */
static void add_sequences(Names *names, GString *text, int n, RawPlace place)
{
        gsize length = text->len;
        const char *piece;
        size_t i;

        if (place == RAW_PATHS)
                names_add(names, text->str, "M", "void", "int32");
        else if (place == RAW_METHODS && length)
                for (i = 0; (piece = raw_piece(RAW_RESULTS, i)); i++)
                        names_add(names, "A", text->str, piece, "int32");
        else if (place == RAW_TYPES)
                names_add(names, "A", "M", "void", text->str);
        for (i = 0; n > 0 && (piece = raw_piece(place, i)); i++) {
                g_string_append(text, piece);
                add_sequences(names, text, n - 1, place);
                g_string_truncate(text, length);
        }
}

START_TEST(test_sequences)
{
        g_autoptr(GHashTable) names = names_new();
        g_autoptr(GString) text = g_string_new(NULL);

        add_sequences(names, text, 3, (RawPlace)_i);
        ck_assert_uint_gt(g_hash_table_size(names), 10000);
}
END_TEST

START_TEST(test_tokens)
{
        g_autoptr(GHashTable) names = names_new();
        g_autoptr(GRand) random = g_rand_new_with_seed(SEED);
        int round;

        for (round = 0; round < 100000; round++) {
                g_autoptr(GString) path =
                        raw_tokens(random, RAW_PATHS, g_rand_int_range(random, 0, 7));
                g_autoptr(GString) method =
                        raw_tokens(random, RAW_METHODS, g_rand_int_range(random, 1, 5));
                g_autoptr(GString) arguments =
                        raw_tokens(random, RAW_TYPES, g_rand_int_range(random, 0, 8));

                names_add(names, path->str, method->str, raw_token(random, RAW_RESULTS),
                          arguments->str);
        }
        ck_assert_uint_gt(g_hash_table_size(names), 50000);
}
END_TEST

/* Well-formed names: one place varies at a time, so that the variants of a place are compared. */
START_TEST(test_well_formed)
{
        g_autoptr(GHashTable) names = names_new();
        g_autoptr(GRand) random = g_rand_new_with_seed(SEED + (guint32)_i);
        int round;

        for (round = 0; round < 200000; round++) {
                g_autofree char *path = _i == 2 ? g_strdup("A") : raw_path(random);
                g_autofree char *method = _i == 1 || _i == 2 ? g_strdup("M") : raw_method(random);
                g_autofree char *arguments =
                        _i == 2 || _i == 3 ? raw_arguments(random) : g_strdup("");

                names_add(names, path, method, raw_token(random, RAW_RESULTS), arguments);
        }
        ck_assert_uint_gt(g_hash_table_size(names), 10000);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("names-distinct");
        TCase *tcase = tcase_create("names-distinct");

        tcase_set_timeout(tcase, 60);
        tcase_add_loop_test(tcase, test_sequences, RAW_PATHS, RAW_TYPES + 1);
        tcase_add_test(tcase, test_tokens);
        tcase_add_loop_test(tcase, test_well_formed, 0, 4);
        suite_add_tcase(suite, tcase);
        return suite;
}
