/* SPDX-License-Identifier: MIT */

/* A method with any machine code, for each machine: the frame at each of its bytes, and a step to a
 * caller with it. */

#include "step.h"
#include "unwind/frame-code.h"

/* Limit of the tested places. */
#define MAX_PLACES 256u

static void check_machine(const Machine *machine, const MethodCode *code)
{
        size_t i;

        for (i = 0; i <= code->n && i < MAX_PLACES; i++) {
                CallFrame frame;
                unsigned is_leaf;

                for (is_leaf = 0; is_leaf < 2; is_leaf++)
                        switch (frame_code_read(machine, code, i, is_leaf, &frame)) {
                        case FRAME_CODE_RULES:
                        case FRAME_CODE_HIDDEN:
                                fuzz_step(machine, &frame);
                                break;
                        case FRAME_CODE_POINTER:
                        case FRAME_CODE_UNKNOWN:
                                break;
                        }
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
        const MethodCode code = {.bytes = data, .n = n};
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(FUZZ_MACHINES); i++)
                check_machine(machine_find(FUZZ_MACHINES[i]), &code);
        return 0;
}
