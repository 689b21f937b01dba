/* SPDX-License-Identifier: MIT */

/* Encodings are those of the Arm Architecture Reference Manual, "A64 instruction set encoding". */

#include "unwind/frame-code.h"

#include <string.h>

#define WORD    8
#define N_BYTES 4 /* of an instruction */

/* Maximum of instructions that are read. A method saves at most 20 registers, in pairs. */
#define MAX_INSTRUCTIONS 64

enum { A64_FIRST_PRESERVED = 19, A64_FP = 29, A64_SP = 31 };

typedef enum A64Operation {
        A64_OTHER,
        A64_SAVE,          /* one or two registers, to OFFSET from sp */
        A64_RESTORE,       /* the same back */
        A64_ADD_SP,        /* AMOUNT is added to sp; `sub` has a negative one */
        A64_ADD_NUMBER,    /* a register is added to sp; AMOUNT: 1, or -1 for a subtraction */
        A64_NUMBER,        /* a register is set to AMOUNT, for that */
        A64_SET_POINTER,   /* x29 is set to sp and AMOUNT */
        A64_NOTHING,       /* it changes no frame */
        A64_STUB,          /* the same, in stubs of the runtime */
        A64_CALL,          /* x30 gets another return address */
        A64_RETURN,        /* to x30 */
        A64_JUMP,          /* by AMOUNT bytes from its begin */
        A64_JUMP_REGISTER, /* out of the method, or to a case of a switch */
} A64Operation;

typedef struct A64Instruction {
        A64Operation operation;
        uint8_t numbers[2]; /* of registers; 0: not a preserved one */
        int32_t offset;     /* in bytes, from sp */
        int32_t amount;     /* in bytes; saves add it to sp before, restores after */
} A64Instruction;

static int32_t bits_signed(uint32_t word, unsigned low, unsigned n)
{
        return (int32_t)(word << (32 - low - n)) >> (32 - n);
}

static uint32_t bits_of(uint32_t word, unsigned low, unsigned n)
{
        return word >> low & ((1u << n) - 1);
}

/* Sets the registers of a save or a restore. False: they are none that a method preserves. */
static bool instruction_set_numbers(A64Instruction *instruction, uint32_t word, bool is_vector,
                                    bool is_pair)
{
        const uint8_t numbers[] = {(uint8_t)bits_of(word, 0, 5), (uint8_t)bits_of(word, 10, 5)};
        size_t i;

        /* Of vectors, the low halves, whose places are not needed. */
        for (i = 0; i < 1u + is_pair && !is_vector; i++) {
                if (numbers[i] < A64_FIRST_PRESERVED || numbers[i] == A64_SP)
                        return false;
                instruction->numbers[i] = numbers[i];
        }
        return true;
}

/* When sp changes: never, before, or after. */
typedef enum A64Index {
        INDEX_POST = 1,
        INDEX_NONE = 2,
        INDEX_PRE = 3,
} A64Index;

static A64Instruction instruction_of_memory(uint32_t word, bool is_restore, bool is_pair,
                                            A64Index index, int32_t offset)
{
        A64Instruction found = {.operation = is_restore ? A64_RESTORE : A64_SAVE};

        /* Saves are at the end of the frame, restores at its begin. */
        if (!instruction_set_numbers(&found, word, bits_of(word, 26, 1), is_pair) ||
            index == (is_restore ? INDEX_PRE : INDEX_POST) || index < INDEX_POST)
                return (A64Instruction){.operation = A64_OTHER};
        if (index == INDEX_NONE)
                found.offset = offset;
        else
                found.amount = offset;
        return found;
}

/* stp and ldp of x registers and vectors. */
static A64Instruction instruction_read_pair(uint32_t word)
{
        const unsigned kind = bits_of(word, 30, 2);
        const bool is_vector = bits_of(word, 26, 1);
        const int32_t size = is_vector ? 4 << kind : WORD;

        if (kind == 3 || (!is_vector && kind != 2))
                return (A64Instruction){.operation = A64_OTHER};
        return instruction_of_memory(word, bits_of(word, 22, 1), /* is_pair= */ true,
                                     bits_of(word, 23, 2), bits_signed(word, 15, 7) * size);
}

/* str and ldr of an x register, or of the low half of a vector. */
static A64Instruction instruction_read_single(uint32_t word)
{
        const bool has_index = !bits_of(word, 24, 1);
        const A64Index index = has_index ? bits_of(word, 10, 2) : INDEX_NONE;
        const int32_t offset =
                has_index ? bits_signed(word, 12, 9) : (int32_t)bits_of(word, 10, 12) * WORD;

        if (bits_of(word, 23, 1) || (has_index && (index == INDEX_NONE || bits_of(word, 21, 1))))
                return (A64Instruction){.operation = A64_OTHER};
        return instruction_of_memory(word, bits_of(word, 22, 1), /* is_pair= */ false, index,
                                     offset);
}

/* add and sub of a number, to sp or x29. */
static A64Instruction instruction_read_add(uint32_t word)
{
        const int32_t number = (int32_t)(bits_of(word, 10, 12) << (bits_of(word, 22, 1) ? 12 : 0));
        const bool is_sub = bits_of(word, 30, 1);

        switch (bits_of(word, 0, 5)) {
        case A64_SP:
                return (A64Instruction){.operation = A64_ADD_SP,
                                        .amount = is_sub ? -number : number};
        case A64_FP:
                return (A64Instruction){.operation = is_sub ? A64_OTHER : A64_SET_POINTER,
                                        .amount = number};
        default:
                return (A64Instruction){.operation = A64_OTHER};
        }
}

/* movz and movn. Larger frames, of 64 KiB and more, need a second instruction and are not read. */
static A64Instruction instruction_read_number(uint32_t word)
{
        const int32_t number = (int32_t)bits_of(word, 5, 16);

        return (A64Instruction){.operation = bits_of(word, 21, 2) ? A64_OTHER : A64_NUMBER,
                                .numbers = {(uint8_t)bits_of(word, 0, 5)},
                                .amount = bits_of(word, 30, 1) ? number : ~number};
}

static A64Instruction instruction_read_add_number(uint32_t word)
{
        return (A64Instruction){.operation = A64_ADD_NUMBER,
                                .numbers = {(uint8_t)bits_of(word, 16, 5)},
                                .amount = bits_of(word, 30, 1) ? -1 : 1};
}

static A64Instruction instruction_read_jump(uint32_t word)
{
        return (A64Instruction){.operation = A64_JUMP,
                                .amount = bits_signed(word, 0, 26) * N_BYTES};
}

/* The instructions that the JIT writes at a method's begin and end. */
static const struct {
        uint32_t mask, bits;
        A64Operation operation;
        A64Instruction (*read)(uint32_t word); /* instead of OPERATION */
} INSTRUCTIONS[] = {
        {0x3a0003e0, 0x280003e0, A64_OTHER, instruction_read_pair},   /* of [sp] */
        {0xfb0003e0, 0xf90003e0, A64_OTHER, instruction_read_single}, /* the same, [sp, #N] */
        {0xfb0003e0, 0xf80003e0, A64_OTHER, instruction_read_single},
        {0xbf8003e0, 0x910003e0, A64_OTHER, instruction_read_add}, /* add X, sp, #N; also sub */
        {0xbfe0ffff, 0x8b2063ff, A64_OTHER, instruction_read_add_number}, /* add sp, sp, X */
        {0xbf800000, 0x92800000, A64_OTHER, instruction_read_number},
        {0xffe0ffff, 0xb8606bff, A64_NOTHING, NULL}, /* ldr wzr, [sp, X]: is there memory? */
        {0xffffffff, 0xd65f03c0, A64_RETURN, NULL},
        {0xfffffbff, 0xd65f0bff, A64_RETURN, NULL},  /* retaa, retab */
        {0xfffff01f, 0xd503201f, A64_NOTHING, NULL}, /* nop, paciasp, autiasp, bti */
        {0xfc000000, 0x14000000, A64_OTHER, instruction_read_jump},
        {0xfffffc1f, 0xd61f0000, A64_JUMP_REGISTER, NULL}, /* br */
        {0xfc000000, 0x94000000, A64_CALL, NULL},          /* bl */
        {0xfffffc1f, 0xd63f0000, A64_CALL, NULL},          /* blr */
        {0xff000000, 0x58000000, A64_STUB, NULL},          /* ldr X, cell; ... */
        {0xffc00000, 0x79400000, A64_STUB, NULL},          /* ... ldrh, ... */
        {0xff800000, 0x71000000, A64_STUB, NULL},          /* ... subs, ... */
        {0xffc00000, 0x79000000, A64_STUB, NULL},          /* ... strh, ... */
        {0xff000010, 0x54000000, A64_STUB, NULL},          /* ... b.eq: it counts the calls */
};

/* The instruction at AT; A64_OTHER at the end of the code. */
static A64Instruction instruction_read(const MethodCode *code, size_t at)
{
        uint32_t word;
        size_t i;

        if (at > code->n || code->n - at < sizeof(word))
                return (A64Instruction){.operation = A64_OTHER};
        memcpy(&word, code->bytes + at, sizeof(word));
        for (i = 0; i < sizeof(INSTRUCTIONS) / sizeof(*INSTRUCTIONS); i++)
                if ((word & INSTRUCTIONS[i].mask) == INSTRUCTIONS[i].bits)
                        return INSTRUCTIONS[i].read
                                       ? INSTRUCTIONS[i].read(word)
                                       : (A64Instruction){.operation = INSTRUCTIONS[i].operation};
        return (A64Instruction){.operation = A64_OTHER};
}

static A64Instruction instruction_read_before(const MethodCode *code, size_t at)
{
        return at >= N_BYTES ? instruction_read(code, at - N_BYTES)
                             : (A64Instruction){.operation = A64_OTHER};
}

/* The instruction at AT, with the number that the last one has set in a register, for large frames.
 */
static A64Instruction instruction_read_next(const MethodCode *code, size_t at,
                                            A64Instruction *number)
{
        A64Instruction next = instruction_read(code, at);

        if (next.operation == A64_NUMBER) {
                *number = next;
                next = (A64Instruction){.operation = A64_NOTHING};
        } else if (next.operation == A64_ADD_NUMBER) {
                const bool is_known =
                        number->operation == A64_NUMBER && number->numbers[0] == next.numbers[0];

                next = (A64Instruction){.operation = is_known ? A64_ADD_SP : A64_OTHER,
                                        .amount = next.amount * number->amount};
        }
        return next;
}

/* Registers are as at the call; the return address is in x30. */
static void frame_begin(CallFrame *frame)
{
        unsigned i;

        memset(frame, 0, sizeof(*frame));
        for (i = 0; i < N_REGISTERS; i++)
                frame->registers[i].kind = FRAME_RULE_SAME;
        frame->registers[REGISTER_PC].kind = FRAME_RULE_NONE;
        frame->registers[REGISTER_SP].kind = FRAME_RULE_OF_CFA;
}

static void frame_end(CallFrame *frame, uint8_t number, int64_t offset)
{
        frame->cfa = (FrameRule){.kind = FRAME_RULE_REGISTER, .number = number, .offset = offset};
}

/* The registers of INSTRUCTION are at OFFSET from the CFA. */
static void frame_save(CallFrame *frame, const A64Instruction *instruction, int64_t offset)
{
        size_t i;

        for (i = 0; i < 2; i++) {
                const uint8_t number = instruction->numbers[i];

                if (number)
                        frame->registers[number == A64_FP ? REGISTER_FP : number] = (FrameRule){
                                .kind = FRAME_RULE_AT_CFA, .offset = offset + (int64_t)i * WORD};
        }
}

/* True if AT follows an instruction that has ended the frame, so that a jump there leaves the
 * method. */
static bool code_is_restored(const MethodCode *code, size_t at)
{
        const A64Instruction last = instruction_read_before(code, at);

        return (last.operation == A64_RESTORE || last.operation == A64_ADD_SP) && last.amount > 0;
}

/* True if the jump NEXT at AT leaves the method. BEGIN: the first instruction that was read. */
static bool code_is_left(const MethodCode *code, size_t begin, size_t at,
                         const A64Instruction *next)
{
        const int64_t target = (int64_t)at + next->amount;

        if (next->operation == A64_JUMP)
                return target < 0 || target >= (int64_t)code->n;
        return code->is_stub || at > begin || code_is_restored(code, at);
}

/* True if AT is in the instructions before a return. Then the rules follow from the remaining
 * instructions. */
static bool frame_read_end(const MethodCode *code, size_t at, CallFrame *ret)
{
        A64Instruction restores[MAX_INSTRUCTIONS];
        A64Instruction number = instruction_read_before(code, at);
        int64_t places[MAX_INSTRUCTIONS], depth = 0;
        const size_t begin = at;
        unsigned n = 0, n_restores = 0, i;
        bool is_end = false;

        for (; !is_end; at += N_BYTES) {
                const A64Instruction next = instruction_read_next(code, at, &number);

                if (n++ == MAX_INSTRUCTIONS)
                        return false;
                switch (next.operation) {
                case A64_RESTORE:
                        restores[n_restores] = next;
                        places[n_restores++] = depth + next.offset;
                        depth += next.amount;
                        break;
                case A64_ADD_SP:
                        if (next.amount < 0)
                                return false;
                        depth += next.amount;
                        break;
                case A64_RETURN:
                        is_end = true;
                        break;
                case A64_JUMP:
                case A64_JUMP_REGISTER:
                        if (!code_is_left(code, begin, at, &next))
                                return false;
                        is_end = true;
                        break;
                case A64_NOTHING:
                        break;
                case A64_STUB:
                        if (code->is_stub)
                                break;
                        return false;
                default:
                        return false;
                }
        }
        frame_begin(ret);
        for (i = 0; i < n_restores; i++)
                frame_save(ret, &restores[i], places[i] - depth);
        frame_end(ret, REGISTER_SP, depth);
        return true;
}

static bool code_calls(const MethodCode *code)
{
        size_t at;

        for (at = 0; at < code->n; at += N_BYTES)
                if (instruction_read(code, at).operation == A64_CALL)
                        return true;
        return false;
}

/* True if the frame has the pair to which x29 is set, AMOUNT bytes above sp. */
static bool frame_is_pointed_to(const CallFrame *frame, int64_t depth, int32_t amount)
{
        const FrameRule *pointer = &frame->registers[REGISTER_FP];
        const FrameRule *address = &frame->registers[REGISTER_LR];

        return pointer->kind == FRAME_RULE_AT_CFA && address->kind == FRAME_RULE_AT_CFA &&
               pointer->offset == amount - depth && address->offset == pointer->offset + WORD;
}

FrameCodeKind frame_code_read_arm64(const MethodCode *code, size_t at, bool is_leaf, CallFrame *ret)
{
        A64Instruction number = {.operation = A64_OTHER};
        int64_t depth = 0;
        bool is_body = false;
        unsigned n = 0;
        size_t i;

        if (at >= code->n)
                return FRAME_CODE_POINTER;
        if (is_leaf && at % N_BYTES == 0 && frame_read_end(code, at, ret))
                return ret->registers[REGISTER_FP].kind == FRAME_RULE_SAME ? FRAME_CODE_HIDDEN
                                                                           : FRAME_CODE_RULES;
        if (code->is_stub)
                return FRAME_CODE_UNKNOWN;
        frame_begin(ret);
        /* It begins like a called method, below the existing frame. */
        ret->has_more = code->is_continued;
        for (i = 0; i < at && !is_body; i += N_BYTES) {
                const A64Instruction next = instruction_read_next(code, i, &number);

                if (n++ == MAX_INSTRUCTIONS)
                        return FRAME_CODE_UNKNOWN;
                if (next.operation == A64_SAVE) {
                        depth -= next.amount;
                        frame_save(ret, &next, (int64_t)next.offset - depth);
                } else if (next.operation == A64_ADD_SP && next.amount < 0) {
                        depth -= next.amount;
                } else if (next.operation == A64_SET_POINTER) {
                        if (!frame_is_pointed_to(ret, depth, next.amount))
                                return FRAME_CODE_UNKNOWN;
                        frame_end(ret, REGISTER_FP, depth - next.amount);
                        return FRAME_CODE_RULES;
                } else if (next.operation != A64_NOTHING) {
                        is_body = true;
                }
        }
        /* Without a frame pointer there is no call, which would have changed x30. */
        if (!is_leaf ||
            (is_body && (ret->registers[REGISTER_LR].kind != FRAME_RULE_SAME || code_calls(code))))
                return FRAME_CODE_UNKNOWN;
        frame_end(ret, REGISTER_SP, depth);
        return FRAME_CODE_HIDDEN;
}
