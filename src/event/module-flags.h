/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Flags of the runtime's events that are not of methods (eventtracebase.h)
 */

enum {
        MODULE_FLAG_DOMAIN_NEUTRAL = 0x1,
        MODULE_FLAG_NATIVE = 0x2,
        MODULE_FLAG_DYNAMIC = 0x4,
        MODULE_FLAG_MANIFEST = 0x8,
        MODULE_FLAG_IBC_OPTIMIZED = 0x10,
        MODULE_FLAG_READY_TO_RUN = 0x20,
        MODULE_FLAG_PARTIAL_READY_TO_RUN = 0x40,
};

/* Flags of TieredCompilationSettings, an event of runtimes that have tiered compilation on. */
enum {
        TIERED_QUICK_JIT = 0x1,
        TIERED_QUICK_JIT_FOR_LOOPS = 0x2,
        TIERED_PGO = 0x4,
        TIERED_READY_TO_RUN = 0x8,
};

enum {
        ASSEMBLY_FLAG_DOMAIN_NEUTRAL = 0x1,
        ASSEMBLY_FLAG_DYNAMIC = 0x2,
        ASSEMBLY_FLAG_NATIVE = 0x4,
        ASSEMBLY_FLAG_COLLECTIBLE = 0x8,
        ASSEMBLY_FLAG_READY_TO_RUN = 0x10,
        ASSEMBLY_FLAG_PARTIAL_READY_TO_RUN = 0x20,
};
