/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Legend: which colours a graph has, and how many samples ended in each
 */

#include "profile/palette.h"

typedef struct LegendEntry {
        bool is_shown;
        uint64_t self;
} LegendEntry;

typedef struct Legend {
        LegendEntry entries[_COLOUR_MAX];
        bool has_marked;
} Legend;

void legend_init(Legend *legend, const Profile *profile);
