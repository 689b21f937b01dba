/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Call frame: how the caller's registers are found at one address of a function (DWARF 5, section
 * 6.4.2)
 */

#include "unwind/frame-table.h"

enum {
        REGISTER_FP = 6,
        REGISTER_SP = 7,
        REGISTER_PC = 16, /* the return address */
        N_REGISTERS,
};

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
        FrameRule registers[N_REGISTERS];
        bool is_signal; /* the program was interrupted in the caller, by a signal */
} CallFrame;

/*
 * The rules at ADDRESS, which ENTRY has; by the ABI of x86-64. False: they are damaged, or not
 * known here. *RET_WORK: how many bytes of instructions were executed, in both cases.
 */
bool call_frame_read(CallFrame *ret, const FrameEntry *entry, uint64_t address, uint64_t *ret_work);
