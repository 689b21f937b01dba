/* SPDX-License-Identifier: MIT */
#include "event/method-flags.h"

/* Three bits: every value has a name. */
static const char *const TIER_NAMES[_METHOD_TIER_MAX] = {
        [METHOD_TIER_UNKNOWN] = "Unknown",
        [METHOD_TIER_MIN_OPT_JITTED] = "MinOptJitted",
        [METHOD_TIER_OPTIMIZED] = "Optimized",
        [METHOD_TIER_QUICK_JITTED] = "QuickJitted",
        [METHOD_TIER_OPTIMIZED_TIER1] = "OptimizedTier1",
        [METHOD_TIER_OPTIMIZED_TIER1_OSR] = "OptimizedTier1OSR",
        [METHOD_TIER_INSTRUMENTED] = "InstrumentedTier",
        [METHOD_TIER_INSTRUMENTED_OPTIMIZED] = "InstrumentedTierOptimized",
};

const char *tier_name(uint32_t method_flags)
{
        if (!(method_flags & METHOD_FLAG_JITTED))
                return "ReadyToRun";
        return TIER_NAMES[(method_flags >> METHOD_TIER_SHIFT) & METHOD_TIER_MASK];
}
