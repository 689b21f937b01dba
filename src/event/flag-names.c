/* SPDX-License-Identifier: MIT */
#include "event/flag-names.h"

#include "event/method-flags.h"
#include "event/module-flags.h"

#include <stddef.h>

#define END                                                                                        \
        {                                                                                          \
                0, NULL                                                                            \
        }

const FlagName method_flag_names[] = {
        {METHOD_FLAG_DYNAMIC, "dynamic"},
        {METHOD_FLAG_GENERIC, "generic"},
        {METHOD_FLAG_SHARED_GENERIC_CODE, "shared"},
        {METHOD_FLAG_JITTED, "jitted"},
        {METHOD_FLAG_JIT_HELPER, "helper"},
        {METHOD_FLAG_PROFILER_REJECTED_PRECOMPILED, "profiler-rejected"},
        {METHOD_FLAG_READY_TO_RUN_REJECTED_PRECOMPILED, "ready-to-run-rejected"},
        {METHOD_FLAG_EDITED, "edited"},
        END,
};

const FlagName module_flag_names[] = {
        {MODULE_FLAG_DOMAIN_NEUTRAL, "domain-neutral"},
        {MODULE_FLAG_NATIVE, "native"},
        {MODULE_FLAG_DYNAMIC, "dynamic"},
        {MODULE_FLAG_MANIFEST, "manifest"},
        {MODULE_FLAG_IBC_OPTIMIZED, "ibc-optimized"},
        {MODULE_FLAG_READY_TO_RUN, "ready-to-run"},
        {MODULE_FLAG_PARTIAL_READY_TO_RUN, "partly-ready-to-run"},
        END,
};

const FlagName assembly_flag_names[] = {
        {ASSEMBLY_FLAG_DOMAIN_NEUTRAL, "domain-neutral"},
        {ASSEMBLY_FLAG_DYNAMIC, "dynamic"},
        {ASSEMBLY_FLAG_NATIVE, "native"},
        {ASSEMBLY_FLAG_COLLECTIBLE, "collectible"},
        {ASSEMBLY_FLAG_READY_TO_RUN, "ready-to-run"},
        {ASSEMBLY_FLAG_PARTIAL_READY_TO_RUN, "partly-ready-to-run"},
        END,
};

const FlagName tiered_setting_names[] = {
        {TIERED_QUICK_JIT, "quick-jit"},
        {TIERED_QUICK_JIT_FOR_LOOPS, "osr"},
        {TIERED_PGO, "pgo"},
        {TIERED_READY_TO_RUN, "ready-to-run"},
        END,
};
