/* SPDX-License-Identifier: MIT */

/*
 * Texts of the client library: symbols, words, UTF-8, and the names of a connection
 */

#include "wire/enum-names.h"
#include "client/json-check.h"
#include "client/json-decode.h"
#include "client/message.h"
#include "client/name-cache.h"
#include "event/method-flags.h"
#include "tracker/answer.h"
#include "util/printable.h"
#include "util/seconds-text.h"
#include "util/utf8.h"
#include "wire/bulk.h"

#include "support/suite.h"

#include <errno.h>
#include <string.h>

/* Values, and the numbers of bytes of their texts; 0: no text. */
static const struct {
        const char *text;
        size_t n;
} VALUES[] = {
        {"null,", 4},
        {"nul", 0},
        {"true", 4},
        {"-0.5e+10]", 8},
        {"-", 0},
        {"01", 1},
        {"1.", 0},
        {"1e", 0},
        {"\"a\\\"\\u00e9\\n\"x", 13},
        {"\"\\u0000\"", 0},
        {"\"\\u00e\"", 0},
        {"\"\\x\"", 0},
        {"\"\n\"", 0},
        {"\"Maße日😀\"", 14},
        {"\"\xed\xa0\x80\"", 0},
        {"\"\xf0\x9f", 0},
        {"\"a", 0},
        {"\"a\\", 0},
        {"{}", 2},
        {"{ \"a\" : [ 1 , { } ] } ", 21},
        {"{\"a\"}", 0},
        {"{1:2}", 0},
        {"{\"a\":1,}", 0},
        {"{,}", 0},
        {"[]", 2},
        {"[1 2]", 0},
        {"[1}", 0},
        {"[[[]]]", 6},
        {"[[[[]]]]", 0},
        {"[", 0},
        {"", 0},
};

START_TEST(test_json_check)
{
        const char *text = VALUES[_i].text;

        ck_assert_uint_eq(json_check_value(text, strlen(text), 0, 3), VALUES[_i].n);
}
END_TEST

static const struct {
        clrsym_body body;
        const char *symbol;
} SYMBOLS[] = {
        {{.name_space = "N.T", .name = "M", .signature = "void  (int32,bool)"},
         "N.T.M(int32,bool)"},
        {{.name_space = "N.T", .name = "M", .signature = "void  ()"}, "N.T.M()"},
        {{.name = "M", .signature = "x"}, "M()"},
        {{.name = "M", .signature = ""}, "M()"},
        {{.name_space = "", .name = "M"}, "M()"},
        {{.name = "M", .signature = "void  (class A`1<(x)>,(y))"}, "M(class A`1<(x)>,(y))"},
        {{.name = "M", .signature = "no end)"}, "M()"},
        {{.name_space = "N", .method_id = 0xabc}, "method 0xabc"},
        {{.name = "Evil\x1b[31m\nX"}, "Evil\\u{1b}[31m\\u{a}X()"},
        {{.name = "Maße日😀\u202e"}, "Maße日😀\\u{202e}()"},
        {{.name = "\xff"
                  "A\xc3"},
         "\\x{ff}A\\x{c3}()"},
};

START_TEST(test_symbol)
{
        const char *want = SYMBOLS[_i].symbol;
        size_t n = strlen(want), size;
        char buffer[100];

        for (size = 0; size < sizeof(buffer); size++) {
                memset(buffer, 'x', sizeof(buffer));
                ck_assert_uint_eq(clrsym_symbol(&SYMBOLS[_i].body, CLRSYM_STYLE_CLR,
                                                size ? buffer : NULL, size),
                                  n);
                if (size > n)
                        ck_assert_str_eq(buffer, want);
                else if (size > 0) {
                        /* The buffer has a prefix of whole characters. */
                        ck_assert_uint_lt(strlen(buffer), size);
                        ck_assert(!strncmp(buffer, want, strlen(buffer)));
                        ck_assert(g_utf8_validate(buffer, -1, NULL));
                }
                ck_assert_int_eq(buffer[size], 'x');
        }
}
END_TEST

/* The symbol of an IL stub for people names the method that the stub is made for. */
START_TEST(test_symbol_of_stub)
{
        const clrsym_body body = {.name_space = "dynamicClass",
                                  .name = "IL_STUB_PInvoke",
                                  .signature = "int32  (class System.String)",
                                  .stub_name_space = "N.T",
                                  .stub_name = "Read",
                                  .stub_signature = "int32(string)"};
        char buffer[100];

        clrsym_symbol(&body, CLRSYM_STYLE_CLR, buffer, sizeof(buffer));
        ck_assert_str_eq(buffer, "dynamicClass.IL_STUB_PInvoke(class System.String)");
        clrsym_symbol(&body, CLRSYM_STYLE_CSHARP, buffer, sizeof(buffer));
        ck_assert_str_eq(buffer, "[P/Invoke stub made for N.T.Read](string)");
        clrsym_symbol(&body, CLRSYM_STYLE_SHORT, buffer, sizeof(buffer));
        ck_assert_str_eq(buffer, "[P/Invoke stub made for T.Read]");
}
END_TEST

/* A cut removes the last character or escape as a whole. */
START_TEST(test_symbol_cut)
{
        const clrsym_body body = {.name = "aß\u202e"};
        char buffer[8];

        clrsym_symbol(&body, CLRSYM_STYLE_CLR, buffer, 3);
        ck_assert_str_eq(buffer, "a");
        clrsym_symbol(&body, CLRSYM_STYLE_CLR, buffer, 4);
        ck_assert_str_eq(buffer, "aß");
        clrsym_symbol(&body, CLRSYM_STYLE_CLR, buffer, 8);
        ck_assert_str_eq(buffer, "aß");
}
END_TEST

/* Printable characters are GLib's printable characters; code points that GLib does not know as
 * assigned may be printable, too. */
START_TEST(test_printable)
{
        gunichar c;

        for (c = 1; c <= 0x10ffff; c++) {
                GUnicodeType type = g_unichar_type(c);
                bool is_shown = type != G_UNICODE_CONTROL && type != G_UNICODE_FORMAT &&
                                type != G_UNICODE_LINE_SEPARATOR &&
                                type != G_UNICODE_PARAGRAPH_SEPARATOR;
                char text[8] = "", shown[32], want[32];
                TextBuffer writer = {.buffer = shown, .size = sizeof(shown)};
                uint32_t decoded;

                if (type == G_UNICODE_SURROGATE || type == G_UNICODE_UNASSIGNED)
                        continue;
                g_unichar_to_utf8(c, text);
                ck_assert_uint_eq(utf8_decode(text, &decoded), strlen(text));
                ck_assert_uint_eq(decoded, c);
                text_buffer_put_printable(&writer, text);
                text_buffer_end(&writer);
                g_snprintf(want, sizeof(want), "\\u{%x}", c);
                ck_assert_str_eq(shown, is_shown ? text : want);
        }
}
END_TEST

/* Each sequence of up to three bytes, and of four bytes with a valid begin: same result as GLib. */
START_TEST(test_utf8)
{
        uint32_t i;

        for (i = 1; i < 1u << 24; i += 1 + (i & 0xff) % 3) {
                char text[6] = {(char)(0xf0 | (i >> 4 & 7)), (char)(i >> 16), (char)(i >> 8),
                                (char)i, '\0'};
                const char *begin = i & 1 ? text : text + 1;
                size_t n = strlen(begin);

                if (utf8_is_text(begin, n) != g_utf8_validate(begin, (gssize)n, NULL))
                        ck_abort_msg("%x", i);
        }
        ck_assert(!utf8_is_text("a\0b", 3));
        ck_assert(!utf8_is_text("\xc3", 1));
        ck_assert(utf8_is_text("", 0));
}
END_TEST

/* The library checks most of a text word by word: each character at each place of a word, cut
 * anywhere. */
START_TEST(test_utf8_words)
{
        static const char *const ODD[] = {"\x01", "\x7f", "\x80",         "\xff", "é",
                                          "漢",   "😀",    "\xed\xa0\x80", ""};
        size_t place, n, i;

        for (i = 0; i < G_N_ELEMENTS(ODD); i++)
                for (place = 0; place < 20; place++) {
                        char text[32];

                        memset(text, 'a', sizeof(text));
                        memcpy(text + place, ODD[i], MAX(strlen(ODD[i]), 1)); /* "": a NUL */
                        for (n = 0; n <= sizeof(text); n++)
                                ck_assert_int_eq(utf8_is_text(text, n),
                                                 g_utf8_validate_len(text, n, NULL));
                }
}
END_TEST

/* The words are the daemon's spelling. */
START_TEST(test_words)
{
        unsigned i, j;

        for (i = 0; i < _ANSWER_STATUS_MAX; i++)
                ck_assert_str_eq(clrsym_status_name((clrsym_status)i),
                                 answer_status_name((AnswerStatus)i));
        ck_assert_str_eq(clrsym_status_name((clrsym_status)i), "?");
        for (i = 0; i < _CONFIDENCE_MAX; i++)
                ck_assert_str_eq(clrsym_confidence_name((clrsym_confidence)i),
                                 confidence_name((Confidence)i));
        ck_assert_str_eq(clrsym_confidence_name((clrsym_confidence)i), "?");
        for (i = 0; i < _BODY_SOURCE_MAX; i++)
                ck_assert_str_eq(clrsym_source_name((clrsym_source)i),
                                 body_source_name((BodySource)i));
        ck_assert_str_eq(clrsym_source_name((clrsym_source)i), "?");
        for (i = 0; i < _METHOD_TIER_MAX; i++)
                ck_assert_str_eq(clrsym_tier_name((clrsym_tier)i),
                                 tier_name(METHOD_FLAG_JITTED | i << METHOD_TIER_SHIFT));
        ck_assert_str_eq(clrsym_tier_name((clrsym_tier)i), tier_name(0));
        ck_assert_str_eq(clrsym_tier_name((clrsym_tier)(i + 1)), "?");
        ck_assert_str_eq(clrsym_il_kind_name(CLRSYM_IL_NO_MAPPING), "no-mapping");
        ck_assert_str_eq(clrsym_il_kind_name((clrsym_il_kind)99), "?");
        ck_assert_str_eq(clrsym_process_state_name(CLRSYM_RECORDED), "recorded");
        ck_assert_str_eq(clrsym_process_state_name((clrsym_process_state)99), "?");
        for (i = 0; i < enum_n_names(ENUM_TIER); i++)
                ck_assert(enum_from_name(ENUM_TIER, clrsym_tier_name((clrsym_tier)i), &j) &&
                          j == i);
        ck_assert(!enum_from_name(ENUM_TIER, "Tier9", &j));
}
END_TEST

START_TEST(test_time)
{
        static const char *const BAD[] = {"",
                                          "1",
                                          "1.",
                                          "1.5",
                                          ".000000001",
                                          "1.0000000001",
                                          "1.00000000x",
                                          "-1.000000000",
                                          "18446744074.000000000",
                                          "99999999999999999999.000000000"};
        uint64_t time;
        size_t i;

        ck_assert(seconds_from_text("473.414890639", &time) && time == UINT64_C(473414890639));
        ck_assert(seconds_from_text("0.000000000", &time) && time == 0);
        ck_assert(seconds_from_text("18446744073.709551615", &time) && time == UINT64_MAX);
        ck_assert(!seconds_from_text("18446744073.709551616", &time));
        for (i = 0; i < G_N_ELEMENTS(BAD); i++)
                ck_assert_msg(!seconds_from_text(BAD[i], &time), "%s", BAD[i]);
}
END_TEST

START_TEST(test_message)
{
        Message message = {0};

        ck_assert_str_eq(message_text(&message), "nothing failed");
        ck_assert_int_eq(message_set(&message, -EIO, "%s: %d", "a\nb\xff", 5), -EIO);
        ck_assert_str_eq(message_text(&message), "a\\u{a}b\\u{fffd}: 5");
        ck_assert_int_eq(message_set_no_memory(&message), -ENOMEM);
        ck_assert_str_eq(message_text(&message), "out of memory");
        message_clear(&message);
}
END_TEST

/* Texts stay valid and in place, whatever the daemon sends later. */
START_TEST(test_names)
{
        NameCache names = {0};
        const char *first, *gone;
        uint32_t i;
        g_autofree char *large = g_strnfill(200000, 'x');

        ck_assert_ptr_null(name_cache_find(&names, 7));
        ck_assert_int_eq(name_cache_set(&names, 7, "seven", 5), 0);
        first = name_cache_find(&names, 7);
        for (i = 100; i < 60000; i++) {
                char text[16];

                g_snprintf(text, sizeof(text), "%u", i * 3);
                ck_assert_int_eq(name_cache_set(&names, i * 2654435769u | 1, text, strlen(text)),
                                 0);
        }
        ck_assert_int_eq(name_cache_set(&names, 2, large, 200000), 0);
        ck_assert_str_eq(name_cache_find(&names, 2), large);
        for (i = 100; i < 60000; i++)
                ck_assert_uint_eq(strtoul(name_cache_find(&names, i * 2654435769u | 1), NULL, 10),
                                  i * 3);
        ck_assert_ptr_eq(name_cache_find(&names, 7), first);
        ck_assert_ptr_null(name_cache_find(&names, 8));
        ck_assert_int_eq(name_cache_set(&names, 7, "other", 4), 0);
        ck_assert_str_eq(name_cache_find(&names, 7), "othe");
        ck_assert_str_eq(first, "seven");
        ck_assert_int_eq(name_cache_set(&names, 8, "\xff", 1), -EBADMSG);
        ck_assert_int_eq(name_cache_set(&names, 8, "a\0", 2), -EBADMSG);
        ck_assert_ptr_null(name_cache_find(&names, 8));
        gone = name_cache_find(&names, 7);
        name_cache_forget(&names);
        ck_assert_ptr_null(name_cache_find(&names, 7));
        ck_assert_int_eq(name_cache_set(&names, 7, "", 0), 0);
        ck_assert_str_eq(gone, "othe");
        name_cache_forget(&names);
        ck_assert_str_eq(gone, "othe");
        name_cache_release(&names);
        name_cache_deinit(&names);
}
END_TEST

START_TEST(test_names_limits)
{
        NameCache names = {0};
        g_autofree char *large = g_strnfill(BULK_MAX_NAME_BYTES, 'x');
        uint32_t i;

        ck_assert_int_eq(name_cache_set(&names, 1, large, BULK_MAX_NAME_BYTES), 0);
        ck_assert_int_eq(name_cache_set(&names, 2, "x", 1), -ENOBUFS);
        ck_assert_int_eq(name_cache_set(&names, 1, "x", 1), 0);
        for (i = 2; i <= BULK_MAX_NAMES; i++)
                ck_assert_int_eq(name_cache_set(&names, i, "y", 1), 0);
        ck_assert_int_eq(name_cache_set(&names, i, "z", 1), -ENOBUFS);
        ck_assert_int_eq(name_cache_set(&names, 5, "z", 1), 0);
        name_cache_deinit(&names);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("client-text");
        TCase *tcase = tcase_create("client-text");

        tcase_set_timeout(tcase, 60);
        tcase_add_loop_test(tcase, test_symbol, 0, G_N_ELEMENTS(SYMBOLS));
        tcase_add_loop_test(tcase, test_json_check, 0, G_N_ELEMENTS(VALUES));
        tcase_add_test(tcase, test_symbol_of_stub);
        tcase_add_test(tcase, test_symbol_cut);
        tcase_add_test(tcase, test_printable);
        tcase_add_test(tcase, test_utf8);
        tcase_add_test(tcase, test_utf8_words);
        tcase_add_test(tcase, test_words);
        tcase_add_test(tcase, test_time);
        tcase_add_test(tcase, test_message);
        tcase_add_test(tcase, test_names);
        tcase_add_test(tcase, test_names_limits);
        suite_add_tcase(suite, tcase);
        return suite;
}
