/* SPDX-License-Identifier: MIT */

/*
 * Frames by machine code: methods as the JIT of .NET 10 writes them, at each of their instructions.
 */

#include "support/suite.h"
#include "unwind/frame-code.h"

#define POINTER INT64_MIN

/* A place in a method. */
static const struct {
        const char *method; /* bytes; instructions are parted by '|' */
        struct {
                size_t at;
                int64_t cfa;     /* from rsp; POINTER: the frame pointer has the caller */
                int64_t pointer; /* where rbp is, from the CFA; 0: it has not changed */
        } places[8];
} ROWS[] = {
        /* addsd xmm0, xmm1; ret */
        {"f2 0f 58 c1|c3", {{0, 8, 0}, {4, 8, 0}}},
        /* A frame pointer. */
        {"55|48 8b ec|8d 47 01|5d|c3",
         {{0, 8, 0}, {1, 16, -16}, {4, POINTER, 0}, {7, 16, -16}, {8, 8, 0}}},
        {"55|41 57|53|48 83 ec 10|c5 f8 77|48 8d 6c 24 20|90|48 83 c4 10|5b|41 5f|5d|c3",
         {{1, 16, -16},
          {3, 24, -16},
          {8, 48, -16},
          {16, POINTER, 0},
          {17, 48, -16},
          {22, 24, -16},
          {24, 16, -16},
          {25, 8, 0}}},
        /* None; one call. */
        {"50|e8 00 00 00 00|48 83 c4 08|c3", {{0, 8, 0}, {1, 16, 0}, {6, 16, 0}, {10, 8, 0}}},
        {"53|48 83 ec 20|48 8b df|e8 00 00 00 00|48 83 c4 20|5b|c3",
         {{1, 16, 0}, {5, 48, 0}, {8, 48, 0}, {13, 48, 0}, {17, 16, 0}, {18, 8, 0}}},
        /* None, and rbp has a value. */
        {"55|53|50|8b ef|8b c5|48 83 c4 08|5b|5d|c3",
         {{1, 16, -16}, {2, 24, -16}, {3, 32, -16}, {5, 32, -16}, {11, 24, -16}, {13, 8, 0}}},
        /* A large frame. */
        {"55|4c 8d 9c 24 00 00 ff ff|90", {{1, 16, -16}, {9, POINTER, 0}}},
        /* Jumps: in the method, and out of it. */
        {"90|e9 fa ff ff ff|c3", {{1, 8, 0}}},
        {"55|48 8b ec|e9 f7 ff ff ff|c3", {{4, POINTER, 0}}},
        {"55|48 8b ec|5d|e9 00 10 00 00", {{4, 16, -16}, {5, 8, 0}}},
        {"55|48 8b ec|5d|48 ff e0", {{4, 16, -16}, {5, 8, 0}}},
        {"55|48 8b ec|48 8d 65 f0|5d|c3", {{4, POINTER, 0}, {8, 16, -16}}},
        /* Instructions that are cut. */
        {"48 83", {{0, 8, 0}, {1, 8, 0}}},
        {"41", {{0, 8, 0}}},
};

static size_t bytes_of(const char *text, uint8_t *ret)
{
        size_t n = 0;

        while (*text) {
                if (*text == ' ' || *text == '|') {
                        text++;
                        continue;
                }
                ret[n++] = (uint8_t)(g_ascii_xdigit_value(text[0]) << 4 |
                                     g_ascii_xdigit_value(text[1]));
                text += 2;
        }
        return n;
}

START_TEST(test_places)
{
        uint8_t bytes[64];
        const MethodCode code = {.bytes = bytes, .n = bytes_of(ROWS[_i].method, bytes)};
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(ROWS[_i].places) && ROWS[_i].places[i].cfa; i++) {
                const size_t at = ROWS[_i].places[i].at;
                const int64_t cfa = ROWS[_i].places[i].cfa;
                CallFrame frame;
                FrameCodeKind kind = frame_code_read(&code, at, true, &frame);

                ck_assert_msg((kind == FRAME_CODE_POINTER) == (cfa == POINTER), "%s: at %zu",
                              ROWS[_i].method, at);
                if (kind == FRAME_CODE_POINTER)
                        continue;
                ck_assert_uint_eq(frame.cfa.number, REGISTER_SP);
                ck_assert_msg(frame.cfa.offset == cfa, "%s: at %zu: %d", ROWS[_i].method, at,
                              (int)frame.cfa.offset);
                ck_assert_msg(frame.registers[REGISTER_FP].offset == ROWS[_i].places[i].pointer,
                              "%s: at %zu: rbp at %d", ROWS[_i].method, at,
                              (int)frame.registers[REGISTER_FP].offset);
        }
}
END_TEST

/* When the frame pointer is the method's own. */
START_TEST(test_kinds)
{
        static const uint8_t CODE[] = {0x55, 0x48, 0x8b, 0xec, 0x90, 0x5d, 0xc3};
        static const FrameCodeKind KINDS[] = {
                [0] = FRAME_CODE_HIDDEN, [1] = FRAME_CODE_HIDDEN, [4] = FRAME_CODE_POINTER,
                [5] = FRAME_CODE_RULES,  [6] = FRAME_CODE_HIDDEN,
        };
        const MethodCode code = {.bytes = CODE, .n = sizeof(CODE)};
        CallFrame frame;
        size_t i;

        for (i = 0; i < sizeof(CODE); i++)
                if (i < 2 || i > 3)
                        ck_assert_int_eq(frame_code_read(&code, i, true, &frame), KINDS[i]);
}
END_TEST

/* In a call, whatever its bytes are. */
START_TEST(test_callers)
{
        static const uint8_t CODE[] = {0x50, 0xe8, 0xc3, 0xc3, 0xc3, 0xc3, 0x58, 0xc3};
        MethodCode code = {.bytes = CODE, .n = sizeof(CODE)};
        CallFrame frame;

        ck_assert_int_eq(frame_code_read(&code, 5, false, &frame), FRAME_CODE_HIDDEN);
        ck_assert_int_eq(frame.cfa.offset, 16);
        code.is_continued = true;
        ck_assert_int_eq(frame_code_read(&code, 5, false, &frame), FRAME_CODE_POINTER);
        code.is_continued = false;
        ck_assert_int_eq(frame_code_read(&code, sizeof(CODE), true, &frame), FRAME_CODE_POINTER);
}
END_TEST

/* Stubs of the runtime, which jump to a method: they have changed nothing. */
static const struct {
        const char *bytes;
        FrameCodeKind kind;
} STUBS[] = {
        {"ff 25 fa 0f 00 00|4c 8b 15 fb 0f 00 00|ff 25 fd 0f 00 00", FRAME_CODE_HIDDEN},
        {"4c 8b 15 f9 0f 00 00|ff 25 fb 0f 00 00", FRAME_CODE_HIDDEN},
        {"48 8b 05 f9 0f 00 00|66 ff 08|74 06|ff 25 f5 0f 00 00|ff 25 f7 0f 00 00",
         FRAME_CODE_HIDDEN},
        {"66 ff 08|74 06|ff 25 f5 0f 00 00|ff 25 f7 0f 00 00", FRAME_CODE_HIDDEN},
        {"48 89 e0|ff 25 f5 0f 00 00", FRAME_CODE_UNKNOWN},
        {"55|48 8b ec", FRAME_CODE_UNKNOWN},
        {"90", FRAME_CODE_UNKNOWN},
};

START_TEST(test_stubs)
{
        uint8_t bytes[64];
        const MethodCode code = {
                .bytes = bytes, .n = bytes_of(STUBS[_i].bytes, bytes), .is_stub = true};
        CallFrame frame;

        ck_assert_int_eq(frame_code_read(&code, 0, false, &frame), FRAME_CODE_UNKNOWN);
        ck_assert_int_eq(frame_code_read(&code, 0, true, &frame), STUBS[_i].kind);
        if (STUBS[_i].kind == FRAME_CODE_HIDDEN)
                ck_assert_int_eq(frame.cfa.offset, 8);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("frame-code");
        TCase *tcase = tcase_create("frame-code");

        tcase_add_loop_test(tcase, test_places, 0, G_N_ELEMENTS(ROWS));
        tcase_add_test(tcase, test_kinds);
        tcase_add_test(tcase, test_callers);
        tcase_add_loop_test(tcase, test_stubs, 0, G_N_ELEMENTS(STUBS));
        suite_add_tcase(suite, tcase);
        return suite;
}
