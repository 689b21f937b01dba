/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Clocks of the kernel; libc only
 */

#include <stdint.h>
#include <time.h>

#define NS_PER_SECOND UINT64_C(1000000000)

/* In ns. CLOCK_MONOTONIC and CLOCK_BOOTTIME begin with the boot, CLOCK_REALTIME with 1970. */
static inline int64_t clock_ns(clockid_t clock)
{
        struct timespec now;

        clock_gettime(clock, &now);
        return (int64_t)now.tv_sec * (int64_t)NS_PER_SECOND + now.tv_nsec;
}

/* In ms of CLOCK_MONOTONIC. */
static inline int64_t clock_ms(void)
{
        return clock_ns(CLOCK_MONOTONIC) / 1000000;
}
