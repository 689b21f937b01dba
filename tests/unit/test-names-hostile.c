/* SPDX-License-Identifier: MIT */

/* Hostile names: random, endless and deeply nested ones. */

#include "names/name.h"

#include "support/raw-names.h"
#include "support/suite.h"

#include <string.h>

#define SEED 20240917

static gboolean has_control(const char *name)
{
        for (; *name; name++)
                if ((unsigned char)*name < 0x20 || *name == 0x7f)
                        return TRUE;
        return FALSE;
}

/* Returns the whole name after a check of all invariants. One condition for all, because each
 * ck_assert costs a write. */
static char *formatted(const RawName *raw, NameStyle style)
{
        size_t n = name_format(raw, style, NULL, 0);
        size_t n_raw = strlen(raw->name_space) + strlen(raw->name) + strlen(raw->signature);
        char *name = g_malloc(n + 1);
        g_autofree char *cut = g_malloc(n / 2 + 1);

        if (name_format(raw, style, name, n + 1) != n || strlen(name) != n || n > 16 * n_raw + 64 ||
            !g_utf8_validate(name, (gssize)n, NULL) || has_control(name))
                ck_abort_msg("%s", name);
        if (name_format(raw, style, cut, n / 2 + 1) != n || !g_str_has_prefix(name, cut) ||
            !g_utf8_validate(cut, -1, NULL))
                ck_abort_msg("%s, cut: %s", name, cut);
        return name;
}

static void format_all(const char *name_space, const char *name, const char *signature)
{
        const RawName raw = {.name_space = name_space, .name = name, .signature = signature};
        unsigned style;

        for (style = 0; style < _NAME_STYLE_MAX; style++)
                g_free(formatted(&raw, (NameStyle)style));
}

START_TEST(test_random_bytes)
{
        g_autoptr(GRand) random = g_rand_new_with_seed(SEED);
        int round;

        for (round = 0; round < 20000; round++) {
                char texts[3][64];
                int i, at;

                for (i = 0; i < 3; i++) {
                        int n = g_rand_int_range(random, 0, 63);

                        for (at = 0; at < n; at++)
                                texts[i][at] = (char)g_rand_int_range(random, 1, 256);
                        texts[i][n] = '\0';
                }
                format_all(texts[0], texts[1], texts[2]);
        }
}
END_TEST

START_TEST(test_random_tokens)
{
        g_autoptr(GRand) random = g_rand_new_with_seed(SEED);
        int round;

        for (round = 0; round < 50000; round++) {
                int n = g_rand_int_range(random, 0, 24);
                g_autoptr(GString) path = raw_tokens(random, RAW_PATHS, n);
                g_autoptr(GString) method = raw_tokens(random, RAW_METHODS, n);
                g_autoptr(GString) arguments = raw_tokens(random, RAW_TYPES, n);
                g_autofree char *signature =
                        g_strdup_printf("%s  (%s)", raw_token(random, RAW_RESULTS), arguments->str);

                format_all(path->str, method->str, signature);
        }
}
END_TEST

/* Each token and each pair of tokens, repeated to more than the length of any name: in each place,
 * with and without an end. If the time is linear, the test takes a moment. */
START_TEST(test_endless)
{
        static const char *const PAIRS[][2] = {
                {"A`1[", "]"},
                {"<", ">"},
                {"[", "]"},
                {"(", ")"},
                {"class A`1<", ">"},
                {"fnptr void(", ")"},
                {"fnptr ", "()"},
                {"<<A>b__0", ">d"},
                {"I<", ">"},
                {"A+<", ">c"},
                {"<.", ">"},
                {"pMT: 0x1<", ">"},
                {"class <>c<", ">"},
                {"A`1[B,", "]"},
                {"\\", ""},
                {"A`64,", ""},
                {"A`60000+", ""},
                {"class A`64,", ""},
                {"int32[]", ""},
                {"int32&,", ""},
                {"fnptr fnptr void(int32&)&(", ")"},
                {"required_modifier A ", ""},
                {"<>c+", ""},
                {"<A>d+", ""},
                {"!0,", ""},
                {"&", ""},
                {"[,]", ""},
                {"get_", ""},
                {"\xf0\x9f", ""},
                {"\xe2\x80\xae", ""},
        };
        size_t i, length;

        for (i = 0; i < G_N_ELEMENTS(PAIRS); i++) {
                g_autoptr(GString) text = g_string_new(NULL);
                g_autofree char *signature = NULL;

                while (text->len < 60000)
                        g_string_append(text, PAIRS[i][0]);
                signature = g_strdup_printf("void  (%s)", text->str);
                format_all(text->str, text->str, signature);
                format_all(text->str, text->str, text->str);

                length = text->len / strlen(PAIRS[i][0]);
                while (length-- > 0)
                        g_string_append(text, PAIRS[i][1]);
                g_free(signature);
                signature = g_strdup_printf("void  (%s)", text->str);
                format_all(text->str, text->str, signature);
                format_all(text->str, text->str, text->str);
        }
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("names-hostile");
        TCase *tcase = tcase_create("names-hostile");

        tcase_set_timeout(tcase, 60);
        tcase_add_test(tcase, test_random_bytes);
        tcase_add_test(tcase, test_random_tokens);
        tcase_add_test(tcase, test_endless);
        suite_add_tcase(suite, tcase);
        return suite;
}
