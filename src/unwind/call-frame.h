/* SPDX-License-Identifier: MIT */
#pragma once

/* Call frame: the rules for finding the caller's registers at one address of a function (DWARF 5,
 * section 6.4.2) */

#include "unwind/frame-table.h"
#include "unwind/machine.h"

/* The place of the caller's value of a register. CFA: the canonical frame address. */
typedef enum FrameRuleKind {
        FRAME_RULE_NONE,      /* it is lost: there is no rule */
        FRAME_RULE_UNDEFINED, /* it is lost, by a rule; a return address: there is no caller */
        FRAME_RULE_SAME,      /* it has not changed */
        FRAME_RULE_AT_CFA,    /* in memory at the CFA and the offset */
        FRAME_RULE_OF_CFA,    /* it is the CFA and the offset */
        FRAME_RULE_REGISTER,  /* a register's value; with the offset, for the CFA itself */
        FRAME_RULE_AT_EXPRESSION,
        FRAME_RULE_OF_EXPRESSION,
} FrameRuleKind;

typedef struct FrameRule {
        FrameRuleKind kind;
        uint8_t number; /* of a register */
        int64_t offset; /* in bytes */
        ByteCursor expression;
} FrameRule;

/* Expressions are borrowed from the table of the entry. */
typedef struct CallFrame {
        FrameRule cfa;
        FrameRule registers[N_REGISTERS]; /* PC: not if the return address is in LR */
        bool is_signal;                   /* a signal interrupted the program in the caller */
        bool has_more; /* the caller's SP is above the CFA, at an unknown distance */
} CallFrame;

/* The rules of ENTRY, of a file of MACHINE, at ADDRESS. False: they are damaged, or not supported.
 * *RET_WORK: the executed bytes of instructions, in both cases. */
bool call_frame_read(CallFrame *ret, const Machine *machine, const FrameEntry *entry,
                     uint64_t address, uint64_t *ret_work);

/* True if the return address is still in the register of the call. */
bool call_frame_is_leaf(const CallFrame *frame, const Machine *machine);
/*
 * True if the frame pointer is the function's own at that address. On x86-64 compilers then define
 * the CFA by it. On arm64 they often define the CFA by SP, but the frame pointer is saved beside
 * the return address.
 */
bool call_frame_keeps_pointer(const CallFrame *frame, const Machine *machine);
/* True if the caller's frame pointer was saved below SP: the function has taken it back, or has
 * used the red zone. */
bool call_frame_has_popped(const CallFrame *frame);
