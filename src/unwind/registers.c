/* SPDX-License-Identifier: MIT */
#include "unwind/registers.h"

#include "unwind/leb128.h"

#include <string.h>

void registers_from_perf(const Machine *machine, uint64_t mask, const uint8_t *values,
                         Registers *ret_registers)
{
        unsigned i;

        *ret_registers = (Registers){.machine = machine};
        for (i = 0; i < machine->n_of_perf; i++) {
                uint64_t value;

                if (!(mask >> i & 1))
                        continue;
                memcpy(&value, values, sizeof(value));
                values += sizeof(value);
                if (machine->of_perf[i] >= 0)
                        registers_set(ret_registers, (unsigned)machine->of_perf[i], value);
        }
}

bool stack_copy_read(StackCopy *stack, uint64_t address, uint64_t *ret_value)
{
        const uint64_t offset = address - stack->address;

        if (address >= stack->address && offset <= stack->n &&
            stack->n - offset >= sizeof(*ret_value)) {
                memcpy(ret_value, stack->bytes + offset, sizeof(*ret_value));
                return true;
        }
        if (stack->memory &&
            stack->memory->read(stack->memory->data, stack->tid, address, ret_value))
                return true;
        stack->is_short |= address >= stack->address;
        return false;
}

enum { MAX_DEPTH = 32, MAX_OPERATIONS = 256 };

/* Operations of location expressions that compilers use for frames. */
enum {
        OP_DEREF = 0x06,
        OP_CONST_U1 = 0x08,
        OP_CONST_S1,
        OP_CONST_U2,
        OP_CONST_S2,
        OP_CONST_U4,
        OP_CONST_S4,
        OP_CONST_U8,
        OP_CONST_S8,
        OP_CONST_U,
        OP_CONST_S,
        OP_DUP,
        OP_DROP,
        OP_AND = 0x1a,
        OP_MINUS = 0x1c,
        OP_MUL = 0x1e,
        OP_OR = 0x21,
        OP_PLUS,
        OP_PLUS_CONST,
        OP_SHL,
        OP_SHR,
        OP_XOR = 0x27,
        OP_EQ = 0x29,
        OP_GE,
        OP_GT,
        OP_LE,
        OP_LT,
        OP_NE,
        OP_LITERAL = 0x30, /* 0 to 31 */
        OP_LITERAL_LAST = 0x4f,
        OP_REGISTER = 0x70, /* the value of register 0 to 31, and an offset */
        OP_REGISTER_LAST = 0x8f,
        OP_REGISTER_LONG = 0x92, /* of any register */
        OP_NOTHING = 0x96,
};

/* A location expression of DWARF. */
typedef struct Expression {
        const Registers *registers;
        StackCopy *stack;
        ByteCursor cursor;
        uint64_t values[MAX_DEPTH];
        unsigned n;
} Expression;

static bool expression_push(Expression *expression, uint64_t value)
{
        if (expression->n == MAX_DEPTH)
                return false;
        expression->values[expression->n++] = value;
        return true;
}

static bool expression_push_register(Expression *expression, uint64_t number)
{
        const uint64_t offset = (uint64_t)leb128_signed(&expression->cursor);

        number = machine_of_dwarf(expression->registers->machine, number);
        return number < N_REGISTERS && registers_have(expression->registers, (unsigned)number) &&
               expression_push(expression, expression->registers->values[number] + offset);
}

static bool expression_binary(Expression *expression, uint8_t operation)
{
        uint64_t right, left, result;

        if (expression->n < 2)
                return false;
        right = expression->values[--expression->n];
        left = expression->values[--expression->n];
        switch (operation) {
        case OP_PLUS:
                result = left + right;
                break;
        case OP_MINUS:
                result = left - right;
                break;
        case OP_MUL:
                result = left * right;
                break;
        case OP_AND:
                result = left & right;
                break;
        case OP_OR:
                result = left | right;
                break;
        case OP_XOR:
                result = left ^ right;
                break;
        case OP_SHL:
                result = right < 64 ? left << right : 0;
                break;
        case OP_SHR:
                result = right < 64 ? left >> right : 0;
                break;
        case OP_EQ:
                result = left == right;
                break;
        case OP_NE:
                result = left != right;
                break;
        case OP_GE:
                result = (int64_t)left >= (int64_t)right;
                break;
        case OP_GT:
                result = (int64_t)left > (int64_t)right;
                break;
        case OP_LE:
                result = (int64_t)left <= (int64_t)right;
                break;
        case OP_LT:
                result = (int64_t)left < (int64_t)right;
                break;
        default:
                return false;
        }
        return expression_push(expression, result);
}

/* Pushes the constant operand of an operation. */
static bool expression_push_constant(Expression *expression, uint8_t operation)
{
        ByteCursor *cursor = &expression->cursor;

        switch (operation) {
        case OP_CONST_U1:
                return expression_push(expression, byte_cursor_u8(cursor));
        case OP_CONST_S1:
                return expression_push(expression, (uint64_t)(int8_t)byte_cursor_u8(cursor));
        case OP_CONST_U2:
                return expression_push(expression, byte_cursor_u16(cursor));
        case OP_CONST_S2:
                return expression_push(expression, (uint64_t)(int16_t)byte_cursor_u16(cursor));
        case OP_CONST_U4:
                return expression_push(expression, byte_cursor_u32(cursor));
        case OP_CONST_S4:
                return expression_push(expression, (uint64_t)(int32_t)byte_cursor_u32(cursor));
        case OP_CONST_U8:
        case OP_CONST_S8:
                return expression_push(expression, byte_cursor_u64(cursor));
        case OP_CONST_U:
                return expression_push(expression, leb128_unsigned(cursor));
        case OP_CONST_S:
                return expression_push(expression, (uint64_t)leb128_signed(cursor));
        default:
                return false;
        }
}

static bool expression_step(Expression *expression)
{
        const uint8_t operation = byte_cursor_u8(&expression->cursor);
        uint64_t *top = expression->n ? &expression->values[expression->n - 1] : NULL;

        if (operation >= OP_LITERAL && operation <= OP_LITERAL_LAST)
                return expression_push(expression, operation - OP_LITERAL);
        if (operation >= OP_REGISTER && operation <= OP_REGISTER_LAST)
                return expression_push_register(expression, operation - OP_REGISTER);
        if (operation >= OP_CONST_U1 && operation <= OP_CONST_S)
                return expression_push_constant(expression, operation);
        switch (operation) {
        case OP_NOTHING:
                return true;
        case OP_REGISTER_LONG:
                return expression_push_register(expression, leb128_unsigned(&expression->cursor));
        case OP_DUP:
                return top && expression_push(expression, *top);
        case OP_DROP:
                expression->n -= top != NULL;
                return top != NULL;
        case OP_PLUS_CONST:
                if (top)
                        *top += leb128_unsigned(&expression->cursor);
                return top != NULL;
        case OP_DEREF:
                return top && stack_copy_read(expression->stack, *top, top);
        default:
                return expression_binary(expression, operation);
        }
}

/* The value of the expression of RULE. CFA is on its stack first, unless it is NULL. */
static bool registers_evaluate(const Registers *registers, StackCopy *stack, const FrameRule *rule,
                               const uint64_t *cfa, uint64_t *ret_value)
{
        Expression expression = {
                .registers = registers, .stack = stack, .cursor = rule->expression};
        unsigned i;

        if (cfa)
                expression_push(&expression, *cfa);
        for (i = 0; expression.cursor.n; i++)
                if (i == MAX_OPERATIONS || !expression_step(&expression) ||
                    expression.cursor.has_failed)
                        return false;
        if (!expression.n)
                return false;
        *ret_value = expression.values[expression.n - 1];
        return true;
}

static bool registers_find_cfa(const Registers *registers, StackCopy *stack, const FrameRule *rule,
                               uint64_t *ret_cfa)
{
        if (rule->kind == FRAME_RULE_OF_EXPRESSION)
                return registers_evaluate(registers, stack, rule, NULL, ret_cfa);
        *ret_cfa = registers->values[rule->number] + (uint64_t)rule->offset;
        return registers_have(registers, rule->number);
}

/* The value of register NUMBER in the caller; false: unknown. */
static bool registers_recover(const Registers *registers, StackCopy *stack, const FrameRule *rule,
                              uint64_t cfa, unsigned number, uint64_t *ret_value)
{
        switch (rule->kind) {
        case FRAME_RULE_NONE:
        case FRAME_RULE_UNDEFINED:
                break;
        case FRAME_RULE_SAME:
                *ret_value = registers->values[number];
                return registers_have(registers, number);
        case FRAME_RULE_AT_CFA:
                return stack_copy_read(stack, cfa + (uint64_t)rule->offset, ret_value);
        case FRAME_RULE_OF_CFA:
                *ret_value = cfa + (uint64_t)rule->offset;
                return true;
        case FRAME_RULE_REGISTER:
                *ret_value = registers->values[rule->number];
                return registers_have(registers, rule->number);
        case FRAME_RULE_AT_EXPRESSION:
                return registers_evaluate(registers, stack, rule, &cfa, ret_value) &&
                       stack_copy_read(stack, *ret_value, ret_value);
        case FRAME_RULE_OF_EXPRESSION:
                return registers_evaluate(registers, stack, rule, &cfa, ret_value);
        }
        return false;
}

/* The caller continues at the return address. Its LR has changed with the call. */
static void registers_return(Registers *caller, bool is_signal)
{
        const unsigned number = caller->machine->return_register;

        if (!registers_have(caller, number))
                return;
        registers_set(caller, REGISTER_PC,
                      machine_code_address(caller->machine, caller->values[number]));
        if (number == REGISTER_LR && !is_signal)
                caller->known &= ~(UINT64_C(1) << REGISTER_LR);
}

RegistersStep registers_step_frame(Registers *registers, StackCopy *stack, const CallFrame *frame)
{
        const bool is_leaf = call_frame_is_leaf(frame, registers->machine);
        Registers caller = {.machine = registers->machine};
        uint64_t cfa, value;
        unsigned i;

        if (!registers_find_cfa(registers, stack, &frame->cfa, &cfa))
                return REGISTERS_END;
        for (i = 0; i < N_REGISTERS; i++)
                if (registers_recover(registers, stack, &frame->registers[i], cfa, i, &value))
                        registers_set(&caller, i, value);
        registers_return(&caller, frame->is_signal);
        if (frame->registers[registers->machine->return_register].kind == FRAME_RULE_UNDEFINED)
                return REGISTERS_BEGIN;
        if (!registers_have(&caller, REGISTER_PC) || !registers_have(&caller, REGISTER_SP))
                return REGISTERS_END;
        /* The stack grows down; but a handler can have a stack of its own, and a leaf need not use
         * the stack. */
        if (!frame->is_signal &&
            (caller.values[REGISTER_SP] < registers->values[REGISTER_SP] ||
             (caller.values[REGISTER_SP] == registers->values[REGISTER_SP] && !is_leaf)))
                return REGISTERS_END;
        if (frame->has_more)
                caller.known &= ~(UINT64_C(1) << REGISTER_SP);
        *registers = caller;
        return frame->is_signal ? REGISTERS_SIGNAL : REGISTERS_CALLER;
}

RegistersStep registers_step_pointer(Registers *registers, StackCopy *stack)
{
        const uint64_t pointer = registers->values[REGISTER_FP];
        Registers caller = {.machine = registers->machine};
        uint64_t value;

        if (!registers_have(registers, REGISTER_FP) || pointer % sizeof(value) != 0 ||
            pointer < registers->values[REGISTER_SP] || pointer > UINT64_MAX - 2 * sizeof(value))
                return REGISTERS_END;
        if (!stack_copy_read(stack, pointer, &value))
                return REGISTERS_END;
        registers_set(&caller, REGISTER_FP, value);
        if (!stack_copy_read(stack, pointer + sizeof(value), &value))
                return REGISTERS_END;
        registers_set(&caller, REGISTER_PC, machine_code_address(caller.machine, value));
        registers_set(&caller, REGISTER_SP, pointer + 2 * sizeof(value));
        if (!caller.machine->is_record_last)
                caller.known &= ~(UINT64_C(1) << REGISTER_SP);
        *registers = caller;
        return REGISTERS_CALLER;
}

/* Offsets in the kernel's frame for a handler on arm64 (struct rt_sigframe): of x0, then up to x30,
 * sp and pc. */
enum { SIGNAL_REGISTERS = 312 };

RegistersStep registers_step_signal(Registers *registers, StackCopy *stack)
{
        const Machine *machine = registers->machine;
        const uint64_t begin = registers->values[REGISTER_SP] + SIGNAL_REGISTERS;
        const uint64_t record = registers->values[REGISTER_FP];
        Registers caller = {.machine = machine};
        uint64_t value, pointer, address;
        unsigned i;

        if (!registers_have(registers, REGISTER_SP) || !registers_have(registers, REGISTER_FP))
                return REGISTERS_END;
        for (i = 0; i < machine->n_of_dwarf; i++) {
                if (!stack_copy_read(stack, begin + i * sizeof(value), &value))
                        return REGISTERS_END;
                registers_set(&caller, machine->of_dwarf[i], value);
        }
        /* The handler's frame record has two of these values, too. */
        if (!stack_copy_read(stack, record, &pointer) ||
            !stack_copy_read(stack, record + sizeof(pointer), &address) ||
            pointer != caller.values[REGISTER_FP] || address != caller.values[REGISTER_LR])
                return REGISTERS_END;
        *registers = caller;
        return REGISTERS_SIGNAL;
}
