/* SPDX-License-Identifier: MIT */
#pragma once

/* The members of a code map, for codemap.c and checkpoints */

#include "codemap/codemap.h"
#include "codemap/methodtable.h"

struct CodeMap {
        Strtab *names; /* borrowed */
        BodyStore store;
        PageIndex *index;
        MethodTable methods;
        uint32_t n_live;
        bool is_epoch_known; /* a caller knows the epoch: the next change needs a new one */
        uint64_t newest;     /* latest time of any insertion or end */
        uint64_t epoch;
        GArray *changes;     /* borrowed or NULL: of CodeMapChange */
        GArray *modules;     /* owned, by number - 1: the module's newest living body */
        uint32_t first_dead; /* the dead in order of their ends; BODY_NONE: none is dead */
        uint32_t last_dead;
        uint64_t whole_since;
        uint32_t il_map_cursor; /* bodies with lower numbers have no IL map any more */
        uint32_t living_cursor; /* bodies with lower numbers are not alive, once some were forgotten
                                 */
};
