/* SPDX-License-Identifier: MIT */
#include "unwind/call-frame.h"

#include "unwind/leb128.h"

/* Rules on the stack of remembered ones: compilers remember one or two. */
#define MAX_REMEMBERED 8u
#define MAX_OPERANDS   2u

/* Instructions that are being executed. */
typedef struct FrameProgram {
        const Machine *machine;
        const FrameEntry *entry;
        ByteCursor cursor;
        ByteCursor expression; /* the operand of the instruction, if it has one */
        CallFrame *frame;
        const CallFrame *initial; /* as the common instructions leave it; NULL: they have not run
                                   * yet */
        CallFrame remembered[MAX_REMEMBERED];
        unsigned n_remembered;
        uint64_t place; /* the address that the rules are for */
} FrameProgram;

/* The defaults of the ABI: which function saves which register. */
static void frame_set_default(CallFrame *frame, const Machine *machine)
{
        unsigned i;

        *frame = (CallFrame){0};
        for (i = 0; i < N_REGISTERS; i++)
                if (machine->preserved >> i & 1)
                        frame->registers[i].kind = FRAME_RULE_SAME;
        frame->registers[REGISTER_SP].kind = FRAME_RULE_OF_CFA;
}

/* Always true, as the functions below are unless the operands are invalid. */
static bool program_set(FrameProgram *program, uint64_t number, FrameRule rule)
{
        number = machine_of_dwarf(program->machine, number);
        /* Others are those of vectors. */
        if (number < N_REGISTERS)
                program->frame->registers[number] = rule;
        return true;
}

static bool program_set_at_cfa(FrameProgram *program, uint64_t number, uint64_t offset)
{
        return program_set(program, number,
                           (FrameRule){.kind = FRAME_RULE_AT_CFA, .offset = (int64_t)offset});
}

static bool program_set_of_cfa(FrameProgram *program, uint64_t number, uint64_t offset)
{
        return program_set(program, number,
                           (FrameRule){.kind = FRAME_RULE_OF_CFA, .offset = (int64_t)offset});
}

static bool program_set_undefined(FrameProgram *program, uint64_t number, uint64_t none)
{
        return program_set(program, number, (FrameRule){.kind = FRAME_RULE_UNDEFINED});
}

static bool program_set_same(FrameProgram *program, uint64_t number, uint64_t none)
{
        return program_set(program, number, (FrameRule){.kind = FRAME_RULE_SAME});
}

static bool program_set_register(FrameProgram *program, uint64_t number, uint64_t other)
{
        other = machine_of_dwarf(program->machine, other);
        return other < N_REGISTERS &&
               program_set(program, number,
                           (FrameRule){.kind = FRAME_RULE_REGISTER, .number = (uint8_t)other});
}

static bool program_set_at_expression(FrameProgram *program, uint64_t number, uint64_t n)
{
        return program_set(
                program, number,
                (FrameRule){.kind = FRAME_RULE_AT_EXPRESSION, .expression = program->expression});
}

static bool program_set_of_expression(FrameProgram *program, uint64_t number, uint64_t n)
{
        return program_set(
                program, number,
                (FrameRule){.kind = FRAME_RULE_OF_EXPRESSION, .expression = program->expression});
}

static bool program_restore(FrameProgram *program, uint64_t number, uint64_t none)
{
        const uint64_t own = machine_of_dwarf(program->machine, number);

        return program->initial && (own >= N_REGISTERS ||
                                    program_set(program, number, program->initial->registers[own]));
}

static bool program_set_cfa(FrameProgram *program, uint64_t number, uint64_t offset)
{
        number = machine_of_dwarf(program->machine, number);
        if (number >= N_REGISTERS)
                return false;
        program->frame->cfa = (FrameRule){
                .kind = FRAME_RULE_REGISTER, .number = (uint8_t)number, .offset = (int64_t)offset};
        return true;
}

static bool program_set_cfa_register(FrameProgram *program, uint64_t number, uint64_t none)
{
        return program_set_cfa(program, number, (uint64_t)program->frame->cfa.offset);
}

static bool program_set_cfa_offset(FrameProgram *program, uint64_t offset, uint64_t none)
{
        program->frame->cfa.offset = (int64_t)offset;
        return program->frame->cfa.kind == FRAME_RULE_REGISTER;
}

static bool program_set_cfa_expression(FrameProgram *program, uint64_t n, uint64_t none)
{
        program->frame->cfa =
                (FrameRule){.kind = FRAME_RULE_OF_EXPRESSION, .expression = program->expression};
        return true;
}

static bool program_skip(FrameProgram *program, uint64_t one, uint64_t other)
{
        return true;
}

/* From here on the return address is signed, or no longer; the signature is always removed. */
static bool program_sign(FrameProgram *program, uint64_t one, uint64_t other)
{
        return program->machine->kind == MACHINE_ARM64;
}

static bool program_advance(FrameProgram *program, uint64_t units, uint64_t none)
{
        program->place += units * program->entry->code_units;
        return true;
}

static bool program_set_place(FrameProgram *program, uint64_t one, uint64_t other)
{
        const FrameEntry *entry = program->entry;
        const uint64_t position = entry->position + (uint64_t)(program->cursor.at - entry->own.at);

        return program->initial &&
               frame_pointer_take(&program->cursor, entry->encoding, position, &program->place);
}

static bool program_remember(FrameProgram *program, uint64_t one, uint64_t other)
{
        if (program->n_remembered == MAX_REMEMBERED)
                return false;
        program->remembered[program->n_remembered++] = *program->frame;
        return true;
}

static bool program_recall(FrameProgram *program, uint64_t one, uint64_t other)
{
        if (!program->n_remembered)
                return false;
        *program->frame = program->remembered[--program->n_remembered];
        return true;
}

typedef enum OperandKind {
        OPERAND_NONE,
        OPERAND_1_BYTE,
        OPERAND_2_BYTES,
        OPERAND_4_BYTES,
        OPERAND_NUMBER,
        OPERAND_UNITS, /* a number, in units of the entry's data */
        OPERAND_SIGNED_UNITS,
        OPERAND_NEGATED_UNITS,
        OPERAND_EXPRESSION, /* a length, and so many bytes */
} OperandKind;

/* Takes the operands, if any. False: they are invalid. */
typedef bool (*InstructionFn)(FrameProgram *program, uint64_t one, uint64_t other);

typedef struct Instruction {
        InstructionFn run; /* NULL: unknown */
        OperandKind operands[MAX_OPERANDS];
} Instruction;

/* By their first byte, if its two highest bits are 0. */
static const Instruction INSTRUCTIONS[] = {
        [0x00] = {program_skip, {0}},
        [0x01] = {program_set_place, {0}},
        [0x02] = {program_advance, {OPERAND_1_BYTE}},
        [0x03] = {program_advance, {OPERAND_2_BYTES}},
        [0x04] = {program_advance, {OPERAND_4_BYTES}},
        [0x05] = {program_set_at_cfa, {OPERAND_NUMBER, OPERAND_UNITS}},
        [0x06] = {program_restore, {OPERAND_NUMBER}},
        [0x07] = {program_set_undefined, {OPERAND_NUMBER}},
        [0x08] = {program_set_same, {OPERAND_NUMBER}},
        [0x09] = {program_set_register, {OPERAND_NUMBER, OPERAND_NUMBER}},
        [0x0a] = {program_remember, {0}},
        [0x0b] = {program_recall, {0}},
        [0x0c] = {program_set_cfa, {OPERAND_NUMBER, OPERAND_NUMBER}},
        [0x0d] = {program_set_cfa_register, {OPERAND_NUMBER}},
        [0x0e] = {program_set_cfa_offset, {OPERAND_NUMBER}},
        [0x0f] = {program_set_cfa_expression, {OPERAND_EXPRESSION}},
        [0x10] = {program_set_at_expression, {OPERAND_NUMBER, OPERAND_EXPRESSION}},
        [0x11] = {program_set_at_cfa, {OPERAND_NUMBER, OPERAND_SIGNED_UNITS}},
        [0x12] = {program_set_cfa, {OPERAND_NUMBER, OPERAND_SIGNED_UNITS}},
        [0x13] = {program_set_cfa_offset, {OPERAND_SIGNED_UNITS}},
        [0x14] = {program_set_of_cfa, {OPERAND_NUMBER, OPERAND_UNITS}},
        [0x15] = {program_set_of_cfa, {OPERAND_NUMBER, OPERAND_SIGNED_UNITS}},
        [0x16] = {program_set_of_expression, {OPERAND_NUMBER, OPERAND_EXPRESSION}},
        /* arm64's; the first also signs the address of the code. */
        [0x2c] = {program_sign, {0}},
        [0x2d] = {program_sign, {0}},
        /* GNU's: the size of arguments, and what compilers wrote before 0x11. */
        [0x2e] = {program_skip, {OPERAND_NUMBER}},
        [0x2f] = {program_set_at_cfa, {OPERAND_NUMBER, OPERAND_NEGATED_UNITS}},
};

/* By the two highest bits of their first byte; the others are the first operand. */
static const Instruction SHORT_INSTRUCTIONS[] = {
        [1] = {program_advance, {OPERAND_NONE}},
        [2] = {program_set_at_cfa, {OPERAND_UNITS}},
        [3] = {program_restore, {OPERAND_NONE}},
};

static uint64_t program_take_operand(FrameProgram *program, OperandKind kind)
{
        const uint64_t units = (uint64_t)program->entry->data_units;
        ByteCursor *cursor = &program->cursor;
        uint64_t n;

        switch (kind) {
        case OPERAND_NONE:
                break;
        case OPERAND_1_BYTE:
                return byte_cursor_u8(cursor);
        case OPERAND_2_BYTES:
                return byte_cursor_u16(cursor);
        case OPERAND_4_BYTES:
                return byte_cursor_u32(cursor);
        case OPERAND_NUMBER:
                return leb128_unsigned(cursor);
        case OPERAND_UNITS:
                return leb128_unsigned(cursor) * units;
        case OPERAND_SIGNED_UNITS:
                return (uint64_t)leb128_signed(cursor) * units;
        case OPERAND_NEGATED_UNITS:
                return -(leb128_unsigned(cursor) * units);
        case OPERAND_EXPRESSION:
                n = leb128_unsigned(cursor);
                program->expression = (ByteCursor){.at = byte_cursor_take(cursor, n), .n = n};
                return n;
        }
        return 0;
}

static bool program_step(FrameProgram *program)
{
        const uint8_t byte = byte_cursor_u8(&program->cursor), n = byte & 0x3f;
        const Instruction *instruction = &SHORT_INSTRUCTIONS[byte >> 6];
        uint64_t one = n, other;

        if (byte >> 6) {
                other = program_take_operand(program, instruction->operands[0]);
        } else {
                if (n >= sizeof(INSTRUCTIONS) / sizeof(*INSTRUCTIONS) || !INSTRUCTIONS[n].run)
                        return false;
                instruction = &INSTRUCTIONS[n];
                one = program_take_operand(program, instruction->operands[0]);
                other = program_take_operand(program, instruction->operands[1]);
        }
        return !program->cursor.has_failed && instruction->run(program, one, other) &&
               !program->cursor.has_failed;
}

/* Runs the instructions up to the rules of ADDRESS. */
static bool program_run(FrameProgram *program, ByteCursor instructions, uint64_t address)
{
        program->cursor = instructions;
        while (program->cursor.n) {
                const uint64_t place = program->place;

                if (!program_step(program))
                        return false;
                if (program->place > address)
                        return true;
                if (program->place < place)
                        return false;
        }
        return true;
}

bool call_frame_read(CallFrame *ret, const Machine *machine, const FrameEntry *entry,
                     uint64_t address, uint64_t *ret_work)
{
        CallFrame frame, initial;
        FrameProgram program = {
                .machine = machine, .entry = entry, .frame = &frame, .place = entry->begin};

        *ret_work = entry->common.n + entry->own.n;
        frame_set_default(&frame, machine);
        frame.is_signal = entry->is_signal;
        if (machine_of_dwarf(machine, entry->return_register) != machine->return_register ||
            !program_run(&program, entry->common, UINT64_MAX))
                return false;
        initial = frame;
        program.initial = &initial;
        program.place = entry->begin;
        if (!program_run(&program, entry->own, address) || frame.cfa.kind == FRAME_RULE_NONE)
                return false;
        *ret = frame;
        return true;
}

bool call_frame_is_leaf(const CallFrame *frame, const Machine *machine)
{
        return machine->return_register == REGISTER_LR &&
               frame->registers[REGISTER_LR].kind == FRAME_RULE_SAME;
}

bool call_frame_keeps_pointer(const CallFrame *frame, const Machine *machine)
{
        const FrameRule *pointer = &frame->registers[REGISTER_FP];
        const FrameRule *address = &frame->registers[machine->return_register];

        if (machine->is_record_last)
                return frame->cfa.kind != FRAME_RULE_REGISTER || frame->cfa.number != REGISTER_SP;
        return pointer->kind == FRAME_RULE_AT_CFA && address->kind == FRAME_RULE_AT_CFA &&
               address->offset == pointer->offset + (int64_t)sizeof(uint64_t);
}

bool call_frame_has_popped(const CallFrame *frame)
{
        const FrameRule *pointer = &frame->registers[REGISTER_FP];

        return frame->cfa.kind == FRAME_RULE_REGISTER && frame->cfa.number == REGISTER_SP &&
               pointer->kind == FRAME_RULE_AT_CFA && pointer->offset < -frame->cfa.offset;
}
