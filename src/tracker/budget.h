/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Budget: what is evicted when memory runs out
 *
 * In this order: processes that are over, the one that ended first; bodies that were unloaded, the
 * oldest first; IL maps. Bodies that are alive are never evicted.
 */

#include "tracker/identity.h"

typedef struct Budget {
        size_t limit;           /* bytes; 0: none */
        Account *account;       /* borrowed */
        Strtab *names;          /* borrowed */
        GPtrArray *processes;   /* borrowed, the tracker's */
        Identities *identities; /* borrowed, the tracker's */
        GHashTable *dropped;    /* owned: OwnedKeys that have a forgotten generation, see below */
        uint64_t n_processes, n_bodies, n_il_maps; /* evicted so far */
} Budget;

void budget_init(Budget *budget, Account *account, Strtab *names, GPtrArray *processes,
                 Identities *identities);
void budget_deinit(Budget *budget);

/*
 * Makes room for N bytes and for the growth of PROCESS's tables. False if that is not possible.
 * PROCESS itself is never dropped; it may be NULL.
 */
bool budget_make_room(Budget *budget, const Process *process, size_t n);

/* Forgets the process, and remembers that it did. */
void budget_drop(Budget *budget, Process *process);

/* In place of a uid: of any owner. */
#define BUDGET_ANY_UID (UINT32_MAX - 1)

/* True if a generation of that process was dropped. */
bool budget_has_dropped(const Budget *budget, const ProcessKey *key, uint32_t uid);
