/* SPDX-License-Identifier: MIT */

/* A method of any machine code: the frame at each of its bytes, and a step to a caller by it. */

#include "step.h"
#include "unwind/frame-code.h"

/* Places that are looked at. */
#define MAX_PLACES 256u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
        const MethodCode code = {.bytes = data, .n = n};
        size_t i;

        for (i = 0; i <= n && i < MAX_PLACES; i++) {
                CallFrame frame;
                unsigned is_leaf;

                for (is_leaf = 0; is_leaf < 2; is_leaf++)
                        if (frame_code_read(&code, i, is_leaf, &frame) != FRAME_CODE_POINTER)
                                fuzz_step(&frame);
        }
        return 0;
}
