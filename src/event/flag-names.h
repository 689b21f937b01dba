/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Flag names: the words for the flags of the runtime's events
 */

#include <stdint.h>

typedef struct FlagName {
        uint32_t flag;
        const char *name; /* NULL: the end of a list */
} FlagName;

/* MethodFlags; the tier, which they contain, has no word here. */
extern const FlagName method_flag_names[];
extern const FlagName module_flag_names[];
extern const FlagName assembly_flag_names[];
extern const FlagName tiered_setting_names[];
