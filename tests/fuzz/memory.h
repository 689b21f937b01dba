/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Memory that an input has made the program allocate, for targets in which memory must be
 * proportional to the input
 */

#include "fuzz.h"

#include <malloc.h>

/* A function of the sanitizers; NULL without a sanitizer. */
extern size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

/* Returns the number of currently allocated bytes. */
static inline size_t fuzz_allocated(void)
{
        const struct mallinfo2 info = mallinfo2();

        if (__sanitizer_get_current_allocated_bytes)
                return __sanitizer_get_current_allocated_bytes();
        return info.uordblks + info.hblkhd;
}
