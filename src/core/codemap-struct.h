/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What a code map consists of: for codemap.c, and for images of it
 */

#include "core/codemap.h"
#include "core/methodtable.h"

struct CodeMap {
        Strtab *names; /* borrowed */
        BodyStore store;
        PageIndex *index;
        MethodTable methods;
        uint32_t n_live;
        uint64_t newest; /* latest time of any insertion or end */
        uint64_t epoch;
        GArray *changes;     /* borrowed or NULL: of CodeMapChange */
        GArray *modules;     /* by number - 1: its newest living body */
        uint32_t first_dead; /* ended first: BODY_NONE: nobody is dead */
        uint32_t last_dead;
        uint64_t whole_since;
        uint32_t il_map_cursor; /* bodies before it have no IL map any more */
};
