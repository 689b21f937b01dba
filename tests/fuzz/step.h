/* SPDX-License-Identifier: MIT */
#pragma once

/* A step to a caller, by a frame of an input. */

#include "fuzz.h"
#include "unwind/registers.h"

static inline void fuzz_step(const CallFrame *frame)
{
        static const uint8_t BYTES[256] = {1, 2, 3};
        StackCopy stack = {.address = 0x7000, .bytes = BYTES, .n = sizeof(BYTES)};
        Registers registers = {.known = (1u << N_REGISTERS) - 1};
        unsigned i;

        for (i = 0; i < N_REGISTERS; i++)
                registers.values[i] = 0x7000 + 8 * i;
        if (registers_step_frame(&registers, &stack, frame) != REGISTERS_END)
                FUZZ_REQUIRE(registers_have(&registers, REGISTER_PC));
}
