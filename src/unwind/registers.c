/* SPDX-License-Identifier: MIT */
#include "unwind/registers.h"

#include <dwarf.h>
#include <string.h>

/* perf's numbers (asm/perf_regs.h) are in the order of the kernel's. */
static const int8_t DWARF_NUMBERS[] = {
        0,  3,  2,  1,  4, 5, REGISTER_FP, REGISTER_SP, REGISTER_PC, -1, -1, -1,
        -1, -1, -1, -1, 8, 9, 10,          11,          12,          13, 14, 15,
};

void registers_from_perf(uint64_t mask, const uint8_t *values, Registers *ret_registers)
{
        unsigned i;

        *ret_registers = (Registers){0};
        for (i = 0; i < sizeof(DWARF_NUMBERS); i++) {
                uint64_t value;

                if (!(mask >> i & 1))
                        continue;
                memcpy(&value, values, sizeof(value));
                values += sizeof(value);
                if (DWARF_NUMBERS[i] >= 0)
                        registers_set(ret_registers, (unsigned)DWARF_NUMBERS[i], value);
        }
}

bool stack_copy_read(StackCopy *stack, uint64_t address, uint64_t *ret_value)
{
        uint64_t offset = address - stack->address;

        if (address < stack->address)
                return false;
        if (offset > stack->n || stack->n - offset < sizeof(*ret_value)) {
                stack->is_short = true;
                return false;
        }
        memcpy(ret_value, stack->bytes + offset, sizeof(*ret_value));
        return true;
}

enum { MAX_DEPTH = 32, MAX_OPERATIONS = 256 };

/* A location expression of DWARF, as far as compilers use them for frames. */
typedef struct Expression {
        const Registers *registers;
        StackCopy *stack;
        const uint64_t *cfa; /* NULL: not known yet */
        uint64_t values[MAX_DEPTH];
        unsigned n;
        bool is_value; /* the result is the value, not its address */
} Expression;

static bool expression_push(Expression *expression, uint64_t value)
{
        if (expression->n == MAX_DEPTH)
                return false;
        expression->values[expression->n++] = value;
        return true;
}

static bool expression_push_register(Expression *expression, uint64_t number, uint64_t offset)
{
        return number < N_REGISTERS && registers_have(expression->registers, (unsigned)number) &&
               expression_push(expression, expression->registers->values[number] + offset);
}

static bool expression_binary(Expression *expression, uint8_t atom)
{
        uint64_t right, left, result;

        if (expression->n < 2)
                return false;
        right = expression->values[--expression->n];
        left = expression->values[--expression->n];
        switch (atom) {
        case DW_OP_plus:
                result = left + right;
                break;
        case DW_OP_minus:
                result = left - right;
                break;
        case DW_OP_mul:
                result = left * right;
                break;
        case DW_OP_and:
                result = left & right;
                break;
        case DW_OP_or:
                result = left | right;
                break;
        case DW_OP_xor:
                result = left ^ right;
                break;
        case DW_OP_shl:
                result = right < 64 ? left << right : 0;
                break;
        case DW_OP_shr:
                result = right < 64 ? left >> right : 0;
                break;
        case DW_OP_eq:
                result = left == right;
                break;
        case DW_OP_ne:
                result = left != right;
                break;
        case DW_OP_ge:
                result = (int64_t)left >= (int64_t)right;
                break;
        case DW_OP_gt:
                result = (int64_t)left > (int64_t)right;
                break;
        case DW_OP_le:
                result = (int64_t)left <= (int64_t)right;
                break;
        case DW_OP_lt:
                result = (int64_t)left < (int64_t)right;
                break;
        default:
                return false;
        }
        return expression_push(expression, result);
}

static bool expression_step(Expression *expression, const Dwarf_Op *operation)
{
        const uint8_t atom = operation->atom;
        uint64_t *top = expression->n ? &expression->values[expression->n - 1] : NULL;

        if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31)
                return expression_push(expression, atom - DW_OP_lit0);
        if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
                return expression_push_register(expression, atom - DW_OP_breg0, operation->number);
        if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31) {
                expression->is_value = true;
                return expression_push_register(expression, atom - DW_OP_reg0, 0);
        }
        switch (atom) {
        case DW_OP_nop:
                return true;
        case DW_OP_const1u:
        case DW_OP_const1s:
        case DW_OP_const2u:
        case DW_OP_const2s:
        case DW_OP_const4u:
        case DW_OP_const4s:
        case DW_OP_const8u:
        case DW_OP_const8s:
        case DW_OP_constu:
        case DW_OP_consts:
                return expression_push(expression, operation->number);
        case DW_OP_bregx:
                return expression_push_register(expression, operation->number, operation->number2);
        case DW_OP_regx:
                expression->is_value = true;
                return expression_push_register(expression, operation->number, 0);
        case DW_OP_call_frame_cfa:
                return expression->cfa && expression_push(expression, *expression->cfa);
        case DW_OP_stack_value:
                expression->is_value = true;
                return true;
        case DW_OP_dup:
                return top && expression_push(expression, *top);
        case DW_OP_drop:
                expression->n -= top != NULL;
                return top != NULL;
        case DW_OP_plus_uconst:
                if (top)
                        *top += operation->number;
                return top != NULL;
        case DW_OP_deref:
                return top && stack_copy_read(expression->stack, *top, top);
        default:
                return expression_binary(expression, atom);
        }
}

static bool expression_run(Expression *expression, const Dwarf_Op *operations, size_t n)
{
        size_t i;

        expression->n = 0;
        expression->is_value = false;
        for (i = 0; i < n; i++)
                if (i == MAX_OPERATIONS || !expression_step(expression, &operations[i]))
                        return false;
        return expression->n > 0;
}

/* The value of a register in the caller; false: it is not known. */
static bool registers_recover(const DwarfApi *dwarf, const Registers *registers, StackCopy *stack,
                              Dwarf_Frame *frame, uint64_t cfa, int number, uint64_t *ret_value)
{
        Expression expression = {.registers = registers, .stack = stack, .cfa = &cfa};
        Dwarf_Op memory[3], *operations = NULL;
        size_t n = 0;

        if (dwarf->dwarf_frame_register(frame, number, memory, &operations, &n) != 0)
                return false;
        if (n == 0) {
                *ret_value = registers->values[number];
                return !operations && registers_have(registers, (unsigned)number);
        }
        if (!expression_run(&expression, operations, n))
                return false;
        *ret_value = expression.values[expression.n - 1];
        return expression.is_value || stack_copy_read(stack, *ret_value, ret_value);
}

RegistersStep registers_step_frame(Registers *registers, StackCopy *stack, Dwarf_Frame *frame)
{
        const DwarfApi *dwarf = dwarf_api(NULL); /* FRAME is from there */
        Expression expression = {.registers = registers, .stack = stack};
        Registers caller = {0};
        Dwarf_Op *operations;
        bool is_signal = false;
        uint64_t value;
        size_t n;
        int i;

        if (dwarf->dwarf_frame_info(frame, NULL, NULL, &is_signal) != REGISTER_PC ||
            dwarf->dwarf_frame_cfa(frame, &operations, &n) != 0 ||
            !expression_run(&expression, operations, n))
                return REGISTERS_END;
        for (i = 0; i < N_REGISTERS; i++)
                if (registers_recover(dwarf, registers, stack, frame,
                                      expression.values[expression.n - 1], i, &value))
                        registers_set(&caller, (unsigned)i, value);
        if (!registers_have(&caller, REGISTER_PC) || !registers_have(&caller, REGISTER_SP))
                return REGISTERS_END;
        /* The stack grows down; a handler can have a stack of its own. */
        if (!is_signal && caller.values[REGISTER_SP] <= registers->values[REGISTER_SP])
                return REGISTERS_END;
        *registers = caller;
        return is_signal ? REGISTERS_SIGNAL : REGISTERS_CALLER;
}

RegistersStep registers_step_pointer(Registers *registers, StackCopy *stack)
{
        const uint64_t pointer = registers->values[REGISTER_FP];
        Registers caller = {0};
        uint64_t value;

        if (!registers_have(registers, REGISTER_FP) || !registers_have(registers, REGISTER_SP) ||
            pointer % sizeof(value) != 0 || pointer < registers->values[REGISTER_SP] ||
            pointer > UINT64_MAX - 2 * sizeof(value))
                return REGISTERS_END;
        if (!stack_copy_read(stack, pointer, &value))
                return REGISTERS_END;
        registers_set(&caller, REGISTER_FP, value);
        if (!stack_copy_read(stack, pointer + sizeof(value), &value))
                return REGISTERS_END;
        registers_set(&caller, REGISTER_PC, value);
        registers_set(&caller, REGISTER_SP, pointer + 2 * sizeof(value));
        *registers = caller;
        return REGISTERS_CALLER;
}
