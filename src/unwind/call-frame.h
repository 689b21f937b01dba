/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Call frame: how the caller's registers are found at one address of a function (DWARF 5, section
 * 6.4.2)
 */

#include "unwind/frame-table.h"
#include "unwind/machine.h"

/* Where the caller's value of a register is. CFA: the canonical frame address. */
typedef enum FrameRuleKind {
        FRAME_RULE_UNDEFINED, /* it is lost */
        FRAME_RULE_SAME,      /* it has not changed */
        FRAME_RULE_AT_CFA,    /* in memory at the CFA and the offset */
        FRAME_RULE_OF_CFA,    /* it is the CFA and the offset */
        FRAME_RULE_REGISTER,  /* it is a register's value; and the offset, for the CFA itself */
        FRAME_RULE_AT_EXPRESSION,
        FRAME_RULE_OF_EXPRESSION,
} FrameRuleKind;

typedef struct FrameRule {
        FrameRuleKind kind;
        uint8_t number; /* of a register */
        int64_t offset; /* in bytes */
        ByteCursor expression;
} FrameRule;

/* Expressions are borrowed from the table that the entry is from. */
typedef struct CallFrame {
        FrameRule cfa;
        FrameRule registers[N_REGISTERS]; /* PC: not where the return address is in LR */
        bool is_signal; /* the program was interrupted in the caller, by a signal */
        bool has_more;  /* the CFA is not the end: how far above it is the caller's SP is not known
                         */
} CallFrame;

/*
 * The rules at ADDRESS, which ENTRY of a file of MACHINE has. False: they are damaged, or not known
 * here. *RET_WORK: how many bytes of instructions were executed, in both cases.
 */
bool call_frame_read(CallFrame *ret, const Machine *machine, const FrameEntry *entry,
                     uint64_t address, uint64_t *ret_work);

/* Is the return address still in the register that the call put it in? */
bool call_frame_is_leaf(const CallFrame *frame, const Machine *machine);
/*
 * Is the frame pointer the function's own there? On x86-64 compilers have the CFA by it then. On
 * arm64 they often have the CFA by SP, but have it saved beside the return address.
 */
bool call_frame_keeps_pointer(const CallFrame *frame, const Machine *machine);
