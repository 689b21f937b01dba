/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Method table: the living body of a native code version
 *
 * (MethodID, native code version) is unique among living bodies only.
 */

#include "codemap/body.h"

/*
 * The hash is stored beside the number, so that a probe rarely reads other bodies, which are far
 * apart.
 */
typedef struct MethodSlot {
        uint32_t body; /* number + 1; 0: free */
        uint32_t hash;
} MethodSlot;

typedef struct MethodTable {
        const BodyStore *store; /* borrowed */
        MethodSlot *slots;      /* owned: open addressing by hash */
        unsigned n_bits;
        size_t n_used;
} MethodTable;

void methodtable_init(MethodTable *table, const BodyStore *store);
void methodtable_deinit(MethodTable *table);

/* Replaces an earlier body of the same version. */
void methodtable_add(MethodTable *table, const Body *body);
/* Does nothing if another body has replaced it. */
void methodtable_remove(MethodTable *table, const Body *body);
Body *methodtable_find(const MethodTable *table, uint64_t method_id, uint32_t rejit_id);
/* The most bytes that the next methodtable_add() allocates. */
size_t methodtable_growth(const MethodTable *table);
