/* SPDX-License-Identifier: MIT */

/*
 * Frames from machine code: methods of the JIT of .NET 10, at each of their instructions.
 * tests/oracle tests all precompiled methods of arm64.
 */

#include "support/suite.h"
#include "unwind/frame-code.h"

#define POINTER INT64_MIN

/* A place in a method. */
static const struct {
        const char *method; /* bytes; '|' separates instructions */
        struct {
                size_t at;
                int64_t cfa;     /* from rsp; POINTER: relative to the frame pointer */
                int64_t pointer; /* place of the caller's rbp, from the CFA; 0: rbp is unchanged */
        } places[8];
} ROWS[] = {
        /* addsd xmm0, xmm1; ret */
        {"f2 0f 58 c1|c3", {{0, 8, 0}, {4, 8, 0}}},
        /* With a frame pointer. */
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
        /* Without a frame pointer; one call. */
        {"50|e8 00 00 00 00|48 83 c4 08|c3", {{0, 8, 0}, {1, 16, 0}, {6, 16, 0}, {10, 8, 0}}},
        {"53|48 83 ec 20|48 8b df|e8 00 00 00 00|48 83 c4 20|5b|c3",
         {{1, 16, 0}, {5, 48, 0}, {8, 48, 0}, {13, 48, 0}, {17, 16, 0}, {18, 8, 0}}},
        /* Without a frame pointer, and rbp has another value. */
        {"55|53|50|8b ef|8b c5|48 83 c4 08|5b|5d|c3",
         {{1, 16, -16}, {2, 24, -16}, {3, 32, -16}, {5, 32, -16}, {11, 24, -16}, {13, 8, 0}}},
        /* A large frame. */
        {"55|4c 8d 9c 24 00 00 ff ff|90", {{1, 16, -16}, {9, POINTER, 0}}},
        /* Jumps within the method and out of it. */
        {"90|e9 fa ff ff ff|c3", {{1, 8, 0}}},
        {"55|48 8b ec|e9 f7 ff ff ff|c3", {{4, POINTER, 0}}},
        {"55|48 8b ec|5d|e9 00 10 00 00", {{4, 16, -16}, {5, 8, 0}}},
        {"55|48 8b ec|5d|48 ff e0", {{4, 16, -16}, {5, 8, 0}}},
        {"55|48 8b ec|48 8d 65 f0|5d|c3", {{4, POINTER, 0}, {8, 16, -16}}},
        /* Truncated instructions. */
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
                FrameCodeKind kind = frame_code_read_x86_64(&code, at, true, &frame);

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

/* Frame pointers that belong to the method. */
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
                        ck_assert_int_eq(frame_code_read_x86_64(&code, i, true, &frame), KINDS[i]);
}
END_TEST

/* Return addresses: the place is in a call, whatever the bytes there are. */
START_TEST(test_callers)
{
        static const uint8_t CODE[] = {0x50, 0xe8, 0xc3, 0xc3, 0xc3, 0xc3, 0x58, 0xc3};
        MethodCode code = {.bytes = CODE, .n = sizeof(CODE)};
        CallFrame frame;

        ck_assert_int_eq(frame_code_read_x86_64(&code, 5, false, &frame), FRAME_CODE_HIDDEN);
        ck_assert_int_eq(frame.cfa.offset, 16);
        code.is_continued = true;
        ck_assert_int_eq(frame_code_read_x86_64(&code, 5, false, &frame), FRAME_CODE_POINTER);
        code.is_continued = false;
        ck_assert_int_eq(frame_code_read_x86_64(&code, sizeof(CODE), true, &frame),
                         FRAME_CODE_POINTER);
}
END_TEST

/* Stubs of the runtime that jump to a method and change no register of the frame. */
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

        ck_assert_int_eq(frame_code_read_x86_64(&code, 0, false, &frame), FRAME_CODE_UNKNOWN);
        ck_assert_int_eq(frame_code_read_x86_64(&code, 0, true, &frame), STUBS[_i].kind);
        if (STUBS[_i].kind == FRAME_CODE_HIDDEN)
                ck_assert_int_eq(frame.cfa.offset, 8);
}
END_TEST

/* arm64 */

#define STP_FP_32    0xa9be7bfd /* stp x29, x30, [sp, #-32]! */
#define STP_FP_AT_16 0xa9017bfd /* stp x29, x30, [sp, #16] */
#define STP_19_AT_16 0xa90153f3 /* stp x19, x20, [sp, #16] */
#define LDP_19_AT_16 0xa94153f3
#define LDP_FP_32    0xa8c27bfd /* ldp x29, x30, [sp], #32 */
#define LDP_FP_AT_16 0xa9417bfd
#define SUB_SP_48    0xd100c3ff
#define ADD_SP_48    0x9100c3ff
#define MOV_FP_SP    0x910003fd
#define ADD_FP_SP_16 0x910043fd
#define MOV_9_8192   0xd2840009 /* mov x9, #8192 */
#define SUB_SP_9     0xcb2963ff /* sub sp, sp, x9 */
#define ADD_SP_9     0x8b2963ff
#define SUB_SP_FP    0xd10043bf /* sub sp, x29, #16 */
#define BL           0x94000010
#define B_BACK       0x17fffffe /* two instructions */
#define B_OUT        0x14001000
#define BR_1         0xd61f0020
#define RET          0xd65f03c0
#define PACIASP      0xd503233f
#define AUTIASP      0xd50323bf
#define ADD_0        0x0b010000 /* add w0, w0, w1 */
#define STR_0_AT_16  0xf9000be0 /* str x0, [sp, #16] */

/* A place in a method. */
static const struct {
        uint32_t method[12]; /* 0 ends the method */
        struct {
                size_t at; /* number of the instruction */
                FrameCodeKind kind;
                uint8_t number;                /* register of the CFA */
                int64_t cfa;                   /* offset from this register */
                int64_t pointer, address, x19; /* from the CFA; 0: unchanged */
        } places[9];
} ARM64_ROWS[] = {
        {{STP_FP_32, STP_19_AT_16, MOV_FP_SP, BL, LDP_19_AT_16, LDP_FP_32, RET},
         {{0, FRAME_CODE_HIDDEN, REGISTER_SP, 0, 0, 0, 0},
          {1, FRAME_CODE_HIDDEN, REGISTER_SP, 32, -32, -24, 0},
          {2, FRAME_CODE_HIDDEN, REGISTER_SP, 32, -32, -24, -16},
          {3, FRAME_CODE_RULES, REGISTER_FP, 32, -32, -24, -16},
          {4, FRAME_CODE_RULES, REGISTER_SP, 32, -32, -24, -16},
          {5, FRAME_CODE_RULES, REGISTER_SP, 32, -32, -24, 0},
          {6, FRAME_CODE_HIDDEN, REGISTER_SP, 0, 0, 0, 0},
          {7, FRAME_CODE_POINTER, 0, 0, 0, 0, 0}}},
        /* The pair is not the lowest slot of the frame; x30 is signed; a jump ends the method. */
        {{PACIASP, SUB_SP_48, STP_FP_AT_16, ADD_FP_SP_16, ADD_0, SUB_SP_FP, LDP_FP_AT_16, ADD_SP_48,
          AUTIASP, BR_1},
         {{1, FRAME_CODE_HIDDEN, REGISTER_SP, 0, 0, 0, 0},
          {2, FRAME_CODE_HIDDEN, REGISTER_SP, 48, 0, 0, 0},
          {3, FRAME_CODE_HIDDEN, REGISTER_SP, 48, -32, -24, 0},
          {4, FRAME_CODE_RULES, REGISTER_FP, 32, -32, -24, 0},
          {5, FRAME_CODE_RULES, REGISTER_FP, 32, -32, -24, 0},
          {6, FRAME_CODE_RULES, REGISTER_SP, 48, -32, -24, 0},
          {7, FRAME_CODE_HIDDEN, REGISTER_SP, 48, 0, 0, 0},
          {8, FRAME_CODE_HIDDEN, REGISTER_SP, 0, 0, 0, 0}}},
        /* A large frame. */
        {{STP_FP_32, MOV_9_8192, SUB_SP_9, MOV_FP_SP, RET},
         {{2, FRAME_CODE_HIDDEN, REGISTER_SP, 32, -32, -24, 0},
          {3, FRAME_CODE_HIDDEN, REGISTER_SP, 8224, -32, -24, 0}}},
        {{LDP_FP_32, MOV_9_8192, ADD_SP_9, RET},
         {{0, FRAME_CODE_RULES, REGISTER_SP, 8224, -8224, -8216, 0},
          {1, FRAME_CODE_HIDDEN, REGISTER_SP, 8192, 0, 0, 0},
          {2, FRAME_CODE_HIDDEN, REGISTER_SP, 8192, 0, 0, 0}}},
        /* A jump of a switch does not end the method. */
        {{STP_FP_32, MOV_FP_SP, ADD_0, BR_1, LDP_FP_32, BR_1},
         {{3, FRAME_CODE_RULES, REGISTER_FP, 32, -32, -24, 0},
          {5, FRAME_CODE_HIDDEN, REGISTER_SP, 0, 0, 0, 0}}},
        /* Jumps within the method and out of it. */
        {{STP_FP_32, MOV_FP_SP, ADD_0, B_BACK},
         {{3, FRAME_CODE_RULES, REGISTER_FP, 32, -32, -24, 0}}},
        {{STP_FP_32, MOV_FP_SP, LDP_FP_32, B_OUT},
         {{3, FRAME_CODE_HIDDEN, REGISTER_SP, 0, 0, 0, 0}}},
        /* Without a frame: certain only if the method has no call. */
        {{ADD_0, STR_0_AT_16, RET}, {{1, FRAME_CODE_HIDDEN, REGISTER_SP, 0, 0, 0, 0}}},
        {{ADD_0, BL, ADD_0, B_BACK},
         {{0, FRAME_CODE_HIDDEN, REGISTER_SP, 0, 0, 0, 0}, {2, FRAME_CODE_UNKNOWN, 0, 0, 0, 0, 0}}},
        /* x29 has another value. */
        {{STP_FP_32, ADD_FP_SP_16, ADD_0}, {{2, FRAME_CODE_UNKNOWN, 0, 0, 0, 0, 0}}},
        {{STP_FP_32, ADD_0, MOV_FP_SP}, {{2, FRAME_CODE_UNKNOWN, 0, 0, 0, 0, 0}}},
        {{ADD_SP_9, RET}, {{0, FRAME_CODE_HIDDEN, REGISTER_SP, 0, 0, 0, 0}}},
};

static MethodCode arm64_code(const uint32_t *words)
{
        MethodCode code = {.bytes = (const uint8_t *)words};

        while (words[code.n / sizeof(*words)])
                code.n += sizeof(*words);
        return code;
}

static int64_t offset_of(const CallFrame *frame, unsigned number)
{
        return frame->registers[number].kind == FRAME_RULE_AT_CFA ? frame->registers[number].offset
                                                                  : 0;
}

START_TEST(test_arm64_places)
{
        const MethodCode code = arm64_code(ARM64_ROWS[_i].method);
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(ARM64_ROWS[_i].places); i++) {
                const size_t at = 4 * ARM64_ROWS[_i].places[i].at;
                CallFrame frame;

                if (i > 0 && at == 0)
                        break;
                ck_assert_int_eq(frame_code_read_arm64(&code, at, true, &frame),
                                 ARM64_ROWS[_i].places[i].kind);
                if (!ARM64_ROWS[_i].places[i].number)
                        continue;
                ck_assert_uint_eq(frame.cfa.number, ARM64_ROWS[_i].places[i].number);
                ck_assert_int_eq(frame.cfa.offset, ARM64_ROWS[_i].places[i].cfa);
                ck_assert_int_eq(offset_of(&frame, REGISTER_FP), ARM64_ROWS[_i].places[i].pointer);
                ck_assert_int_eq(offset_of(&frame, REGISTER_LR), ARM64_ROWS[_i].places[i].address);
                ck_assert_int_eq(offset_of(&frame, 19), ARM64_ROWS[_i].places[i].x19);
                ck_assert_int_eq(frame.registers[REGISTER_PC].kind, FRAME_RULE_NONE);
        }
}
END_TEST

/* Return addresses, and places in code that continues another frame. */
START_TEST(test_arm64_callers)
{
        static const uint32_t WORDS[] = {STP_FP_32, MOV_FP_SP, BL, LDP_FP_32, ADD_SP_48, RET, 0};
        MethodCode code = arm64_code(WORDS);
        CallFrame frame;

        ck_assert_int_eq(frame_code_read_arm64(&code, 3 * 4 - 1, false, &frame), FRAME_CODE_RULES);
        ck_assert_uint_eq(frame.cfa.number, REGISTER_FP);
        ck_assert_int_eq(frame_code_read_arm64(&code, 4 - 1, false, &frame), FRAME_CODE_UNKNOWN);
        code.is_continued = true;
        ck_assert_int_eq(frame_code_read_arm64(&code, 3 * 4 - 1, false, &frame), FRAME_CODE_RULES);
        ck_assert(frame.has_more);
        ck_assert_int_eq(frame_code_read_arm64(&code, 0, true, &frame), FRAME_CODE_HIDDEN);
        ck_assert(frame.has_more && frame.registers[REGISTER_LR].kind == FRAME_RULE_SAME);
        ck_assert_int_eq(frame_code_read_arm64(&code, 3 * 4, true, &frame), FRAME_CODE_RULES);
        ck_assert(!frame.has_more && frame.cfa.offset == 80);
}
END_TEST

static const struct {
        uint32_t words[9];
        FrameCodeKind kind;
} ARM64_STUBS[] = {
        {{0x58007f4a, 0x58007fac, 0xd61f0140}, FRAME_CODE_HIDDEN}, /* ldr x10; ldr x12; br x10 */
        /* ldr x9; ldrh w10, [x9]; subs w10, w10, #1; strh w10, [x9]; b.eq; ldr x9; br x9 */
        {{0x58008009, 0x7940012a, 0x7100054a, 0x7900012a, 0x54000060, 0x58007fa9, 0xd61f0120},
         FRAME_CODE_HIDDEN},
        {{B_OUT}, FRAME_CODE_HIDDEN},
        {{STP_FP_32, MOV_FP_SP, 0x58008009}, FRAME_CODE_UNKNOWN},
        {{ADD_0, 0xd61f0120}, FRAME_CODE_UNKNOWN},
};

START_TEST(test_arm64_stubs)
{
        MethodCode code = arm64_code(ARM64_STUBS[_i].words);
        CallFrame frame;

        code.is_stub = true;
        ck_assert_int_eq(frame_code_read_arm64(&code, 0, false, &frame), FRAME_CODE_UNKNOWN);
        ck_assert_int_eq(frame_code_read_arm64(&code, 0, true, &frame), ARM64_STUBS[_i].kind);
        if (ARM64_STUBS[_i].kind == FRAME_CODE_HIDDEN)
                ck_assert(frame.cfa.number == REGISTER_SP && frame.cfa.offset == 0);
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
        tcase_add_loop_test(tcase, test_arm64_places, 0, G_N_ELEMENTS(ARM64_ROWS));
        tcase_add_test(tcase, test_arm64_callers);
        tcase_add_loop_test(tcase, test_arm64_stubs, 0, G_N_ELEMENTS(ARM64_STUBS));
        suite_add_tcase(suite, tcase);
        return suite;
}
