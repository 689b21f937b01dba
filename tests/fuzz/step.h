/* SPDX-License-Identifier: MIT */
#pragma once

/* Steps to a caller, with a frame from an input. */

#include "fuzz.h"
#include "unwind/registers.h"

#include <glib.h>

static const char *const FUZZ_MACHINES[] = {"x86_64", "aarch64"};

static inline void fuzz_step(const Machine *machine, const CallFrame *frame)
{
        static const uint8_t BYTES[256] = {1, 2, 3};
        StackCopy stack = {.address = 0x7000, .bytes = BYTES, .n = sizeof(BYTES)};
        Registers registers = {.machine = machine, .known = (UINT64_C(1) << N_REGISTERS) - 1};
        uint64_t sp;
        unsigned i;

        for (i = 0; i < N_REGISTERS; i++)
                registers.values[i] = 0x7000 + 8 * i;
        for (i = 0; i < 4; i++) {
                sp = registers.values[REGISTER_SP];
                if (registers_step_frame(&registers, &stack, frame) == REGISTERS_END)
                        return;
                FUZZ_REQUIRE(registers_have(&registers, REGISTER_PC));
                FUZZ_REQUIRE(frame->is_signal || registers.values[REGISTER_SP] >= sp);
        }
}
