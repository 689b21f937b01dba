/* SPDX-License-Identifier: MIT */
#include "profile/label.h"
#include "profile/markup.h"
#include "profile/palette.h"
#include "util/printable-string.h"
#include "profile/protobuf.h"
#include "profile/summary.h"
#include "support/suite.h"

#include <string.h>

static const struct {
        const char *name, *label;
} SHORT[] = {
        {"Ns.Type.Method(int, string)", "Type.Method"},
        {"Type.Method(int)", "Type.Method"},
        {"Method(int)", "Method"},
        {"Method", "Method"},
        {"A.B.C.D", "C.D"},
        {"Ns.Type..ctor(int)", "Type..ctor"},
        {"Ns.Type..cctor()", "Type..cctor"},
        {"Type..ctor()", "Type..ctor"},
        {"Ns.T<System.Collections.Generic.List<int>>.M<string>(Ns.X<int, int[]>, ref int)",
         "T<System.Collections.Generic.List<int>>.M<string>"},
        {"Ns.T.<M>g__Local|0_0(int)", "T.<M>g__Local|0_0"},
        {"Ns.T.M(int).Local(string)", "M(int).Local"},
        {"Ns.Outer+Inner.M()", "Outer+Inner.M"},
        {"Ns.T.operator >(Ns.T, Ns.T)", "T.operator >"},
        {"Ns.T.op_Implicit(Ns.T)", "T.op_Implicit"},
        {"Ns.T.get_Item[System.Int32](int)", "T.get_Item[System.Int32]"},
        {"Ns.I.M() [Ns.T.X]", "I.M() [Ns.T.X]"},
        {"()", "()"},
        {")", ")"},
        {"<>", "<>"},
        {">", ">"},
        {".", "."},
        {"..", ".."},
        {"...", "..."},
        {".()", ".()"},
        {"([<", "([<"},
        {")]>.x", ")]>.x"},
};

START_TEST(test_short)
{
        static const FrameKind OTHERS[] = {FRAME_NATIVE, FRAME_KERNEL, FRAME_UNKNOWN, FRAME_COMM};
        Frame frame = {.name = SHORT[_i].name, .kind = FRAME_MANAGED};
        g_autofree char *label = NULL;
        size_t i, begin, end;

        label_short(&frame, &begin, &end);
        ck_assert(begin <= end && end <= strlen(frame.name));
        label = g_strndup(frame.name + begin, end - begin);
        ck_assert_str_eq(label, SHORT[_i].label);
        for (i = 0; i < G_N_ELEMENTS(OTHERS); i++) {
                frame.kind = OTHERS[i];
                label_short(&frame, &begin, &end);
                ck_assert(begin == 0 && end == strlen(frame.name));
        }
}
END_TEST

static const struct {
        const char *name;
        bool is_marked;
        size_t cells;
        const char *label;
} LABELS[] = {
        {"Ns.Type.Method(int)", false, 19, "Ns.Type.Method(int)"},
        {"Ns.Type.Method(int)", false, 18, "Type.Method"},
        {"Ns.Type.Method(int)", false, 11, "Type.Method"},
        {"Ns.Type.Method(int)", false, 10, "Type.Meth\xe2\x80\xa6"},
        {"Ns.Type.Method(int)", false, 4, "Typ\xe2\x80\xa6"},
        {"Ns.Type.Method(int)", false, 3, ""},
        {"Ns.Type.Method(int)", false, 0, ""},
        {"Ns.Type.Method(int)", true, 21, "Ns.Type.Method(int) ~"},
        {"Ns.Type.Method(int)", true, 20, "Type.Method ~"},
        {"Ns.Type.Method(int)", true, 13, "Type.Method ~"},
        {"Ns.Type.Method(int)", true, 4, "T\xe2\x80\xa6"},
        {"\xe5\x90\x8d\xe5\x90\x8d\xe5\x90\x8d", false, 6, "\xe5\x90\x8d\xe5\x90\x8d\xe5\x90\x8d"},
        {"\xe5\x90\x8d\xe5\x90\x8d\xe5\x90\x8d", false, 5, "\xe5\x90\x8d\xe5\x90\x8d\xe2\x80\xa6"},
        {"\xe5\x90\x8d\xe5\x90\x8d\xe5\x90\x8d", false, 4, "\xe5\x90\x8d\xe2\x80\xa6"},
        {"abc", false, 4, "abc"},
};

START_TEST(test_label)
{
        const Frame frame = {
                .name = LABELS[_i].name, .kind = FRAME_MANAGED, .is_marked = LABELS[_i].is_marked};
        g_autoptr(GString) text = g_string_new(NULL);

        label_append(text, &frame, LABELS[_i].cells);
        ck_assert_str_eq(text->str, LABELS[_i].label);
        ck_assert_uint_le(label_cells(text->str, text->len), LABELS[_i].cells + 1);
}
END_TEST

START_TEST(test_utf16)
{
        const char *text = "a\xc3\x9f\xe5\x90\x8d\xf0\x9f\x98\x80z";

        ck_assert_uint_eq(label_utf16_length(text, strlen(text)), 6);
        ck_assert_uint_eq(label_utf16_length(text, 3), 2);
        ck_assert_uint_eq(label_utf16_length(text, 0), 0);
}
END_TEST

/* The time is proportional to the length of the name, whatever brackets the name has. */
START_TEST(test_label_short_is_linear)
{
        static const char *const UNITS[] = {")", "(", "<(", ").", "a)"};
        g_autoptr(GString) name = g_string_new(NULL);
        Frame frame = {.kind = FRAME_MANAGED};
        size_t begin, end;

        while (name->len < 4u << 20)
                g_string_append(name, UNITS[_i]);
        frame.name = name->str;
        label_short(&frame, &begin, &end);
        ck_assert_uint_le(begin, end);
        ck_assert_uint_le(end, name->len);
}
END_TEST

static const struct {
        const char *text, *json, *xml;
} TEXTS[] = {
        {"", "\"\"", ""},
        {"plain", "\"plain\"", "plain"},
        {"\"\\", "\"\\\"\\\\\"", "&quot;\\"},
        {"<a href='x'>&", "\"\\u003ca href='x'\\u003e\\u0026\"", "&lt;a href=&#39;x&#39;&gt;&amp;"},
        {"]]>", "\"]]\\u003e\"", "]]&gt;"},
        {"\xc3\x9f", "\"\xc3\x9f\"", "\xc3\x9f"},
        {"\xe2\x80\xa8", "\"\xe2\x80\xa8\"", "\xe2\x80\xa8"},
        {"x\xf0\x9f\x98\x80", "\"x\xf0\x9f\x98\x80\"", "x\xf0\x9f\x98\x80"},
        {"\xf4\x8f\xbf\xbf", "\"\xf4\x8f\xbf\xbf\"", "\xf4\x8f\xbf\xbf"},
        {"\x7f\x01", "\"\\u007f\\u0001\"", "\x7f\x01"},
};

START_TEST(test_escape)
{
        g_autoptr(GString) json = g_string_new(NULL), xml = g_string_new(NULL);

        script_append_string(json, TEXTS[_i].text);
        ck_assert_str_eq(json->str, TEXTS[_i].json);
        xml_append(xml, TEXTS[_i].text);
        ck_assert_str_eq(xml->str, TEXTS[_i].xml);
}
END_TEST

START_TEST(test_numbers)
{
        g_autoptr(GString) text = g_string_new(NULL);
        static const uint64_t DURATIONS[] = {
                0, 999, 1000, 45600, 999999999, UINT64_C(1000000000), UINT64_C(3723004000000)};
        size_t i;

        for (i = 0; i < 3; i++) {
                number_append(text, (const uint64_t[]){0, 1234, UINT64_MAX}[i]);
                g_string_append_c(text, ' ');
        }
        ck_assert_str_eq(text->str, "0 1,234 18,446,744,073,709,551,615 ");

        g_string_truncate(text, 0);
        number_append_share(text, 0, 0);
        g_string_append_c(text, ' ');
        number_append_share(text, 1, 300);
        g_string_append_c(text, ' ');
        number_append_share(text, 1, 3);
        g_string_append_c(text, ' ');
        number_append_share(text, 7, 7);
        ck_assert_str_eq(text->str, "0 % 0.33 % 33.3 % 100.0 %");

        g_string_truncate(text, 0);
        for (i = 0; i < G_N_ELEMENTS(DURATIONS); i++) {
                number_append_duration(text, DURATIONS[i]);
                g_string_append_c(text, ',');
        }
        ck_assert_str_eq(text->str, "0 ns,999 ns,1.00 us,45.60 us,1000.00 ms,1.00 s,3723.00 s,");
}
END_TEST

START_TEST(test_protobuf)
{
        static const uint8_t BYTES[] = {0x08, 0x96, 0x01, 0x12, 0x02, 'h',  'i',
                                        0x80, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff,
                                        0xff, 0xff, 0xff, 0xff, 0x01, 0x22, 0x00};
        g_autoptr(GString) message = g_string_new(NULL);

        pb_append_number(message, 1, 150);
        pb_append_bytes(message, 2, "hi", 2);
        pb_append_number(message, 3, 0); /* dropped */
        pb_append_number(message, 16, UINT64_MAX);
        pb_append_bytes(message, 4, "", 0);
        ck_assert_uint_eq(message->len, sizeof(BYTES));
        ck_assert_mem_eq(message->str, BYTES, sizeof(BYTES));
}
END_TEST

/* Making a text printable twice gives the same result as once. */
START_TEST(test_printable)
{
        g_autofree char *once = text_printable("\x01 a\xff\xed\xa0\x80\xe2\x80\x8b"
                                               "\xef\xb7\x90\xf4\x90\x80\x80\xc3");
        g_autofree char *twice = text_printable(once);

        ck_assert_str_eq(once, "\\u{1} a\\u{fffd}\\u{fffd}\\u{fffd}\\u{fffd}\\u{200b}\\u{fdd0}"
                               "\\u{fffd}\\u{fffd}\\u{fffd}\\u{fffd}\\u{fffd}");
        ck_assert_str_eq(once, twice);
        ck_assert(g_utf8_validate(once, -1, NULL));
        ck_assert(text_is_plain(once));
        ck_assert(!text_is_plain("\x7f"));
        ck_assert(!text_is_plain("\xc3\x9f"));
}
END_TEST

/* Each tier of the runtime has a colour other than that of "managed". */
START_TEST(test_palette)
{
        static const struct {
                const char *tier;
                FrameKind kind;
                Colour colour;
        } ROWS[] = {
                {"OptimizedTier1", FRAME_MANAGED, COLOUR_OPTIMIZED},
                {"Optimized", FRAME_MANAGED, COLOUR_OPTIMIZED},
                {"OptimizedTier1OSR", FRAME_MANAGED, COLOUR_OSR},
                {"InstrumentedTier", FRAME_MANAGED, COLOUR_INSTRUMENTED},
                {"InstrumentedTierOptimized", FRAME_MANAGED, COLOUR_INSTRUMENTED},
                {"QuickJitted", FRAME_MANAGED, COLOUR_QUICK},
                {"MinOptJitted", FRAME_MANAGED, COLOUR_QUICK},
                {"ReadyToRun", FRAME_MANAGED, COLOUR_PRECOMPILED},
                {"Unknown", FRAME_MANAGED, COLOUR_MANAGED},
                {NULL, FRAME_MANAGED, COLOUR_MANAGED},
                {"QuickJitted", FRAME_NATIVE, COLOUR_NATIVE},
                {NULL, FRAME_KERNEL, COLOUR_KERNEL},
                {NULL, FRAME_UNKNOWN, COLOUR_UNKNOWN},
                {NULL, FRAME_COMM, COLOUR_COMM},
        };
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(ROWS); i++) {
                const Frame frame = {.name = "x", .tier = ROWS[i].tier, .kind = ROWS[i].kind};

                ck_assert_int_eq((int)frame_colour(&frame), (int)ROWS[i].colour);
                ck_assert_uint_lt(frame_shade(&frame), 3);
        }
        for (i = 0; i < _COLOUR_MAX; i++) {
                size_t j;

                ck_assert_uint_eq(strlen(PALETTE[i].rgb), 7);
                for (j = 0; j < i; j++)
                        ck_assert_str_ne(PALETTE[i].rgb, PALETTE[j].rgb);
        }
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("profile-text");
        TCase *tcase = tcase_create("profile-text");

        tcase_add_loop_test(tcase, test_short, 0, G_N_ELEMENTS(SHORT));
        tcase_add_loop_test(tcase, test_label, 0, G_N_ELEMENTS(LABELS));
        tcase_add_test(tcase, test_utf16);
        tcase_add_loop_test(tcase, test_label_short_is_linear, 0, 5);
        tcase_add_loop_test(tcase, test_escape, 0, G_N_ELEMENTS(TEXTS));
        tcase_add_test(tcase, test_numbers);
        tcase_add_test(tcase, test_protobuf);
        tcase_add_test(tcase, test_printable);
        tcase_add_test(tcase, test_palette);
        suite_add_tcase(suite, tcase);
        return suite;
}
