/* SPDX-License-Identifier: MIT */
/* Encodings are those of the Intel SDM, volume 2. */

#include "unwind/frame-code.h"

#include <glib.h>
#include <string.h>

#define WORD 8

/* Maximum of instructions that are read. A method saves 6 registers at most. */
#define MAX_INSTRUCTIONS 64

enum { RAX = 0 }; /* as instructions number it */

/* The numbers of DWARF, which differ from those of instructions. */
static const uint8_t DWARF_NUMBERS[16] = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};

typedef enum CodeOperation {
        CODE_OTHER,
        CODE_PUSH,
        CODE_POP,
        CODE_ADD_SP,      /* `amount` is added to rsp; `sub` has a negative one */
        CODE_SET_POINTER, /* rbp is set from rsp */
        CODE_SET_SP,      /* rsp is set from rbp */
        CODE_NOTHING,     /* it changes no frame */
        CODE_STUB,        /* the same, in stubs of the runtime */
        CODE_RETURN,
        CODE_JUMP,     /* by `amount` bytes from its end */
        CODE_TAIL_JUMP /* out of the method */
} CodeOperation;

typedef struct CodeInstruction {
        CodeOperation operation;
        uint8_t number; /* of the register that is pushed or popped */
        int32_t amount;
        size_t n; /* bytes */
} CodeInstruction;

/* The instructions that compilers write at a function's begin and end, besides pushes and pops of
 * the first registers. */
static const struct {
        uint8_t n, bytes[5];
        uint8_t n_amount; /* bytes of a signed number after them */
        CodeOperation operation;
        int8_t sign; /* of the number */
} INSTRUCTIONS[] = {
        {3, {0x48, 0x83, 0xec}, 1, CODE_ADD_SP, -1},
        {3, {0x48, 0x81, 0xec}, 4, CODE_ADD_SP, -1},
        {3, {0x48, 0x83, 0xc4}, 1, CODE_ADD_SP, 1},
        {3, {0x48, 0x81, 0xc4}, 4, CODE_ADD_SP, 1},
        {3, {0x48, 0x8b, 0xec}, 0, CODE_SET_POINTER, 0},       /* mov rbp, rsp */
        {3, {0x48, 0x89, 0xe5}, 0, CODE_SET_POINTER, 0},       /* the same */
        {4, {0x48, 0x8d, 0x6c, 0x24}, 1, CODE_SET_POINTER, 0}, /* lea rbp, [rsp+N] */
        {4, {0x48, 0x8d, 0xac, 0x24}, 4, CODE_SET_POINTER, 0},
        {3, {0x48, 0x8d, 0x65}, 1, CODE_SET_SP, 0}, /* lea rsp, [rbp-N] */
        {3, {0x48, 0x8d, 0xa5}, 4, CODE_SET_SP, 0},
        {3, {0x48, 0x8b, 0xe5}, 0, CODE_SET_SP, 0},  /* mov rsp, rbp */
        {3, {0xc5, 0xf8, 0x77}, 0, CODE_NOTHING, 0}, /* vzeroupper */
        {3, {0x4c, 0x8b, 0x15}, 4, CODE_STUB, 0},    /* mov r10, [rip+N] */
        {3, {0x48, 0x8b, 0x05}, 4, CODE_STUB, 0},    /* mov rax, [rip+N], ... */
        {3, {0x66, 0xff, 0x08}, 0, CODE_STUB, 0},    /* ... dec word [rax], ... */
        {1, {0x74}, 1, CODE_STUB, 0},                /* ... je: it counts the calls */
        {1, {0xc3}, 0, CODE_RETURN, 0},
        {1, {0xe9}, 4, CODE_JUMP, 1},
        {2, {0xff, 0x25}, 4, CODE_TAIL_JUMP, 0}, /* through a cell */
        {3, {0x48, 0xff, 0x25}, 4, CODE_TAIL_JUMP, 0},
        {3, {0x48, 0xff, 0xe0}, 0, CODE_TAIL_JUMP, 0}, /* jmp rax, of a call in tail position */
};

static int32_t number_read(const uint8_t *bytes, size_t n)
{
        int32_t number = (int8_t)bytes[0];

        if (n == sizeof(number))
                memcpy(&number, bytes, sizeof(number));
        return number;
}

/* push and pop of one register, with or without the prefix of the last eight. */
static bool instruction_read_push(const uint8_t *bytes, size_t n, CodeInstruction *ret)
{
        const bool is_high = bytes[0] == 0x41;
        const uint8_t code = is_high ? (n > 1 ? bytes[1] : 0) : bytes[0];

        if ((code & 0xf0) != 0x50)
                return false;
        *ret = (CodeInstruction){.operation = code & 8 ? CODE_POP : CODE_PUSH,
                                 .number = (uint8_t)((code & 7) + (is_high ? 8 : 0)),
                                 .n = is_high ? 2 : 1};
        return true;
}

static CodeInstruction instruction_read(const MethodCode *code, size_t at)
{
        const uint8_t *bytes = code->bytes + at;
        const size_t n = code->n - at;
        CodeInstruction found = {.operation = CODE_OTHER};
        size_t i;

        if (n == 0 || instruction_read_push(bytes, n, &found))
                return found;
        for (i = 0; i < G_N_ELEMENTS(INSTRUCTIONS); i++) {
                const size_t n_bytes = INSTRUCTIONS[i].n, n_amount = INSTRUCTIONS[i].n_amount;

                if (n < n_bytes + n_amount || memcmp(bytes, INSTRUCTIONS[i].bytes, n_bytes) != 0)
                        continue;
                found.operation = INSTRUCTIONS[i].operation;
                found.n = n_bytes + n_amount;
                if (n_amount && INSTRUCTIONS[i].sign)
                        found.amount = number_read(bytes + n_bytes, n_amount);
                if (INSTRUCTIONS[i].sign < 0)
                        found.amount = found.amount == INT32_MIN ? 0 : -found.amount;
                break;
        }
        return found;
}

/* Registers are as at the call; rsp is DEPTH bytes below the return address. */
static void frame_begin(CallFrame *frame)
{
        unsigned i;

        memset(frame, 0, sizeof(*frame));
        for (i = 0; i < N_REGISTERS; i++)
                frame->registers[i].kind = FRAME_RULE_SAME;
        frame->registers[REGISTER_PC] = (FrameRule){.kind = FRAME_RULE_AT_CFA, .offset = -WORD};
        frame->registers[REGISTER_SP] = (FrameRule){.kind = FRAME_RULE_OF_CFA};
}

static void frame_end(CallFrame *frame, int64_t depth)
{
        frame->cfa = (FrameRule){
                .kind = FRAME_RULE_REGISTER, .number = REGISTER_SP, .offset = depth + WORD};
}

static void frame_save(CallFrame *frame, uint8_t number, int64_t offset)
{
        frame->registers[DWARF_NUMBERS[number]] =
                (FrameRule){.kind = FRAME_RULE_AT_CFA, .offset = offset};
}

/* The rules go by what the instructions still do. */
bool frame_code_read_end_x86_64(const MethodCode *code, size_t at, CallFrame *ret)
{
        uint8_t numbers[16], n_pops = 0, i;
        int64_t places[16], depth = 0;
        bool is_end = false;
        unsigned n = 0;

        while (!is_end && n++ < MAX_INSTRUCTIONS) {
                const CodeInstruction next = instruction_read(code, at);

                at += next.n;
                if (next.operation == CODE_POP && n_pops < G_N_ELEMENTS(places)) {
                        numbers[n_pops] = next.number;
                        places[n_pops++] = depth;
                        depth += WORD;
                } else if (next.operation == CODE_ADD_SP && next.amount > 0) {
                        depth += next.amount;
                } else if (next.operation == CODE_RETURN || next.operation == CODE_TAIL_JUMP) {
                        is_end = true;
                } else if (next.operation == CODE_JUMP) {
                        const int64_t target = (int64_t)at + next.amount;

                        if (target >= 0 && target < (int64_t)code->n)
                                return false;
                        is_end = true;
                } else if (next.operation != CODE_NOTHING && next.operation != CODE_STUB) {
                        return false;
                }
        }
        if (!is_end)
                return false;
        frame_begin(ret);
        for (i = 0; i < n_pops; i++)
                frame_save(ret, numbers[i], places[i] - depth - WORD);
        frame_end(ret, depth);
        return true;
}

/* Large frames are probed page by page before rbp is set. */
static bool code_is_probe(const MethodCode *code, size_t at)
{
        static const uint8_t PROBES[][4] = {
                {0x4c, 0x8d, 0x9c, 0x24}, /* lea r11, [rsp-N] */
                {0x48, 0x8d, 0x84, 0x24}, /* lea rax, [rsp-N] */
                {0x85, 0x84, 0x24},       /* test [rsp-N], eax */
                {0x48, 0x85, 0x84, 0x24},
        };
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(PROBES); i++) {
                const size_t n = PROBES[i][3] ? 4 : 3;

                if (code->n - at >= n && !memcmp(code->bytes + at, PROBES[i], n))
                        return true;
        }
        return false;
}

FrameCodeKind frame_code_read_x86_64(const MethodCode *code, size_t at, bool is_leaf,
                                     CallFrame *ret)
{
        int64_t depth = 0;
        unsigned n = 0;
        size_t i = 0;

        if (at >= code->n || code->is_continued)
                return FRAME_CODE_POINTER;
        if (is_leaf && frame_code_read_end_x86_64(code, at, ret))
                return ret->registers[REGISTER_FP].kind == FRAME_RULE_SAME ? FRAME_CODE_HIDDEN
                                                                           : FRAME_CODE_RULES;
        if (code->is_stub)
                return FRAME_CODE_UNKNOWN;
        frame_begin(ret);
        while (i < at) {
                const CodeInstruction next = instruction_read(code, i);

                if (n++ == MAX_INSTRUCTIONS)
                        return FRAME_CODE_POINTER;
                if (next.operation == CODE_SET_POINTER)
                        return FRAME_CODE_POINTER;
                if (next.operation == CODE_PUSH) {
                        depth += WORD;
                        if (next.number != RAX) /* that one only makes room */
                                frame_save(ret, next.number, -depth - WORD);
                } else if (next.operation == CODE_ADD_SP && next.amount < 0) {
                        depth -= next.amount;
                } else if (next.operation != CODE_NOTHING) {
                        if (code_is_probe(code, i))
                                return FRAME_CODE_POINTER;
                        break;
                }
                i += next.n;
        }
        frame_end(ret, depth);
        return FRAME_CODE_HIDDEN;
}
