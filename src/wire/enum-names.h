/* SPDX-License-Identifier: MIT */
#pragma once

/* Enum names: the spelling of clrsym.h's enumerations in the daemon's JSON */

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

/* The number with the name TEXT. */
bool enum_from_name(EnumKind kind, const char *text, unsigned *ret_i);
/* The number of names; their numbers begin at 0. */
unsigned enum_n_names(EnumKind kind);
