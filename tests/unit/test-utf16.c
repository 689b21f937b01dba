/* SPDX-License-Identifier: MIT */
#include "event/decode.h"

#include "support/suite.h"

#include <string.h>

#define BYTES(literal) literal, sizeof(literal) - 1

static const struct {
        const char *in; /* UTF-16LE */
        size_t n_in;
        const char *out;
        size_t n_out;
} UTF16_ROWS[] = {
        /* Unpaired surrogates: a high one at the end, before ASCII, before another; a low one
         * alone. */
        {BYTES("\x3d\xd8"), BYTES("\xef\xbf\xbd")},
        {BYTES("\x3d\xd8"
               "a\0"),
         BYTES("\xef\xbf\xbd"
               "a")},
        {BYTES("\x3d\xd8\x3d\xd8\x00\xde"), BYTES("\xef\xbf\xbd\xf0\x9f\x98\x80")},
        {BYTES("\x00\xde"), BYTES("\xef\xbf\xbd")},
        {BYTES("\x00\xde\x3d\xd8"), BYTES("\xef\xbf\xbd\xef\xbf\xbd")},
        {BYTES("a\0b\0c\0d\0"
               "\x3d\xd8"
               "e\0f\0g\0"),
         BYTES("abcd\xef\xbf\xbd"
               "efg")},
        {BYTES(""), BYTES("")},
        {BYTES("a\0"), BYTES("a")},
        {BYTES("a\0b\0c\0d\0e\0"), BYTES("abcde")},
        {BYTES("\x7f\0\x80\0"), BYTES("\x7f\xc2\x80")},
        {BYTES("\xff\x07\x00\x08"), BYTES("\xdf\xbf\xe0\xa0\x80")},
        {BYTES("\xff\xd7\x00\xe0\xff\xff"), BYTES("\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf")},
        {BYTES("\x00\xd8\x00\xdc\xff\xdb\xff\xdf"), BYTES("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf")},
        {BYTES("\xe5\x65\x2c\x67\x9e\x8a"), BYTES("日本語")},
        {BYTES("a\0b\0c\0\xe5\x65"
               "d\0e\0f\0g\0"),
         BYTES("abc日defg")},
        {BYTES("a\0\0\0b\0"), BYTES("a\0b")},
};

START_TEST(test_utf16)
{
        size_t n_in = UTF16_ROWS[_i].n_in;
        /* A copy of the exact size, for the address sanitizer. */
        g_autofree uint8_t *in = g_memdup2(UTF16_ROWS[_i].in, n_in);
        g_autofree uint8_t *out = g_malloc(3 * (n_in / 2) + 1);
        size_t n = utf16le_to_utf8(in, n_in / 2, out);

        ck_assert_uint_eq(n, UTF16_ROWS[_i].n_out);
        ck_assert_mem_eq(out, UTF16_ROWS[_i].out, n);
}
END_TEST

/* Each unit alone: GLib's conversion, or U+FFFD. */
START_TEST(test_every_unit)
{
        uint32_t unit;

        for (unit = 0; unit < 0x10000; unit++) {
                const uint8_t in[] = {(uint8_t)unit, (uint8_t)(unit >> 8)};
                bool is_surrogate = unit >= 0xd800 && unit < 0xe000;
                char expected[6];
                uint8_t out[3];
                int n_expected = g_unichar_to_utf8(is_surrogate ? 0xfffd : unit, expected);

                ck_assert_uint_eq(utf16le_to_utf8(in, 1, out), n_expected);
                ck_assert_mem_eq(out, expected, n_expected);
        }
}
END_TEST

static const struct {
        const char *in;
        size_t n_in;
        const char *out;
        size_t n_out;
} UTF8_ROWS[] = {
        {BYTES("\xff"), BYTES("\xef\xbf\xbd")},
        {BYTES("a\x80z"), BYTES("a\xef\xbf\xbdz")},
        {BYTES("\xc3"), BYTES("\xef\xbf\xbd")},
        {BYTES("\xc3("), BYTES("\xef\xbf\xbd(")},
        {BYTES("\xc0\x80"), BYTES("\xef\xbf\xbd\xef\xbf\xbd")},
        {BYTES("\xe0\x80\x80"), BYTES("\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd")},
        {BYTES("\xe6\x97"), BYTES("\xef\xbf\xbd\xef\xbf\xbd")},
        {BYTES("\xe6\x97x"), BYTES("\xef\xbf\xbd\xef\xbf\xbdx")},
        {BYTES("\xed\xa0\x80"), BYTES("\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd")}, /* surrogate */
        {BYTES("\xf0\x80\x80\x80"), BYTES("\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd")},
        {BYTES("\xf4\x90\x80\x80"), BYTES("\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd")},
        {BYTES("\xf5\x80\x80\x80"), BYTES("\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd")},
        {BYTES("\xf0\x9f\x98"), BYTES("\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd")},
        {BYTES(""), BYTES("")},
        {BYTES("plain"), BYTES("plain")},
        {BYTES("a\0b"), BYTES("a\0b")},
        {BYTES("é日😀"), BYTES("é日😀")},
        {BYTES("\xed\x9f\xbf\xf4\x8f\xbf\xbf"), BYTES("\xed\x9f\xbf\xf4\x8f\xbf\xbf")},
};

START_TEST(test_utf8)
{
        size_t n_in = UTF8_ROWS[_i].n_in;
        g_autofree uint8_t *in = g_memdup2(UTF8_ROWS[_i].in, n_in);
        g_autofree uint8_t *out = g_malloc(3 * n_in + 1);
        size_t n = utf8_make_valid(in, n_in, out);

        ck_assert_uint_eq(n, UTF8_ROWS[_i].n_out);
        ck_assert_mem_eq(out, UTF8_ROWS[_i].out, n);
}
END_TEST

/* Texts of each length up to three groups, with a non-ASCII unit at each place, or none. */
START_TEST(test_ascii_start)
{
        static const uint16_t OTHERS[] = {0, 0x80, 0xff, 0x100, 0x141, 0xd83d, 0xffff};
        enum { MOST = 24 };
        size_t n, at, i;

        for (n = 0; n <= MOST; n++)
                for (at = 0; at <= n; at++) {
                        g_autofree uint8_t *in = g_malloc0(2 * n + 1);
                        g_autofree uint8_t *out = g_malloc0(n + 1);
                        uint16_t other = OTHERS[_i];

                        for (i = 0; i < n; i++)
                                in[2 * i] = (uint8_t)(1 + (5 * i + n) % 0x7f);
                        if (at < n) {
                                in[2 * at] = (uint8_t)other;
                                in[2 * at + 1] = (uint8_t)(other >> 8);
                        }
                        ck_assert_uint_eq(utf16le_ascii_to_utf8(in, n, out), at);
                        for (i = 0; i < at; i++)
                                ck_assert_uint_eq(out[i], in[2 * i]);
                }
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("utf16");
        TCase *tcase = tcase_create("utf16");

        tcase_add_loop_test(tcase, test_utf16, 0, G_N_ELEMENTS(UTF16_ROWS));
        tcase_add_test(tcase, test_every_unit);
        tcase_add_loop_test(tcase, test_ascii_start, 0, 7);
        tcase_add_loop_test(tcase, test_utf8, 0, G_N_ELEMENTS(UTF8_ROWS));
        suite_add_tcase(suite, tcase);
        return suite;
}
