/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Registers of a thread in one of its frames, by the numbers of unwind/machine.h, and the copy of
 * its stack
 */

#include "unwind/call-frame.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Registers {
        const Machine *machine;
        uint64_t values[N_REGISTERS]; /* of SP, if SP is not known: its lower bound */
        uint64_t known;               /* a bit for each */
} Registers;

/* Memory of a process outside of the copies of its stacks. */
typedef struct StackMemory {
        /* The 8 bytes at ADDRESS, of a stack of thread TID. False: unknown. */
        bool (*read)(void *data, int32_t tid, uint64_t address, uint64_t *ret_value);
        void *data;
} StackMemory;

typedef struct StackCopy {
        uint64_t address;
        const uint8_t *bytes;
        size_t n;
        const StackMemory *memory; /* borrowed: for other addresses; NULL: these are unknown */
        int32_t tid;               /* for MEMORY */
        bool is_short;             /* an address above it was read, and is not known */
} StackCopy;

static inline bool registers_have(const Registers *registers, unsigned number)
{
        return number < N_REGISTERS && registers->known >> number & 1;
}

static inline void registers_set(Registers *registers, unsigned number, uint64_t value)
{
        registers->values[number] = value;
        registers->known |= UINT64_C(1) << number;
}

/* Registers from perf: one of VALUES, of 64 bits each, for each bit of MASK. */
void registers_from_perf(const Machine *machine, uint64_t mask, const uint8_t *values,
                         Registers *ret_registers);

/* The 8 bytes at ADDRESS. False: unknown. */
bool stack_copy_read(StackCopy *stack, uint64_t address, uint64_t *ret_value);

/* The frame of the caller. */
typedef enum RegistersStep {
        REGISTERS_CALLER,
        REGISTERS_SIGNAL, /* a signal interrupted the program in it */
        REGISTERS_BEGIN,  /* the thread begins in it, by call frame information */
        REGISTERS_END,    /* there is no caller, or it is not in the copy of the stack */
} RegistersStep;

/* By call frame information. */
RegistersStep registers_step_frame(Registers *registers, StackCopy *stack, const CallFrame *frame);
/* By the frame pointer. On arm64 the caller's SP is then unknown. */
RegistersStep registers_step_pointer(Registers *registers, StackCopy *stack);
/* From the vdso to the code that a signal has interrupted, on arm64, where no file has rules for
 * it. */
RegistersStep registers_step_signal(Registers *registers, StackCopy *stack);
