/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * MethodFlags of the runtime's method events
 *
 * The bits as the runtime writes them (eventtracebase.h), which differ from its event
 * documentation. A load can have flags that the unload of the same body lacks: bodies are never
 * matched by flags.
 */

#include <stdint.h>

enum {
        METHOD_FLAG_DYNAMIC = 0x1,
        METHOD_FLAG_GENERIC = 0x2,
        METHOD_FLAG_SHARED_GENERIC_CODE = 0x4,
        METHOD_FLAG_JITTED = 0x8,
        METHOD_FLAG_JIT_HELPER = 0x10,
        METHOD_FLAG_PROFILER_REJECTED_PRECOMPILED = 0x20,
        METHOD_FLAG_READY_TO_RUN_REJECTED_PRECOMPILED = 0x40,

        /* Not the runtime's: see tracker/edits.h. */
        METHOD_FLAG_EDITED = 0x40000000,

        METHOD_TIER_SHIFT = 7,
        METHOD_TIER_MASK = 0x7,
};

/* PrepareCodeConfig::JitOptimizationTier of the runtime. */
typedef enum MethodTier {
        METHOD_TIER_UNKNOWN,
        METHOD_TIER_MIN_OPT_JITTED,
        METHOD_TIER_OPTIMIZED,
        METHOD_TIER_QUICK_JITTED,
        METHOD_TIER_OPTIMIZED_TIER1,
        METHOD_TIER_OPTIMIZED_TIER1_OSR,
        METHOD_TIER_INSTRUMENTED,
        METHOD_TIER_INSTRUMENTED_OPTIMIZED,
        _METHOD_TIER_MAX,
} MethodTier;

/*
 * The runtime's own name of the tier in METHOD_FLAGS, "ReadyToRun" for code that was not jitted
 * (whose tier bits mean nothing). Static.
 */
const char *tier_name(uint32_t method_flags);
