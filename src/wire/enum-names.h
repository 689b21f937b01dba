/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Enum names: how the enumerations of clrsym.h are spelled in the daemon's JSON
 */

#include "clrsym/clrsym.h"

typedef enum EnumKind {
        ENUM_STATUS,
        ENUM_CONFIDENCE,
        ENUM_SOURCE,
        ENUM_TIER,
        ENUM_IL_KIND,
        ENUM_PROCESS_STATE,
        ENUM_LINE_STATUS,
} EnumKind;

/* The number that TEXT is the name of. */
bool enum_from_name(EnumKind kind, const char *text, unsigned *ret_i);
/* How many numbers have names, from 0 on. */
unsigned enum_n_names(EnumKind kind);
