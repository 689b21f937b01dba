/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Budget: what goes when memory runs out
 *
 * In this order: processes that are over, the one that ended first; bodies that were unloaded, by
 * age; IL maps. Bodies that are alive never go.
 */

#include "core/process.h"

typedef struct Budget {
        size_t limit;         /* bytes; 0: none */
        Account *account;     /* borrowed */
        Strtab *names;        /* borrowed */
        GPtrArray *processes; /* borrowed, the tracker's */
        GHashTable *newest;   /* borrowed, the tracker's: its generations by key */
        GHashTable *dropped;  /* owned ProcessKeys of which a generation was dropped */
        uint64_t n_processes, n_bodies, n_il_maps; /* evicted so far */
} Budget;

void budget_init(Budget *budget, Account *account, Strtab *names, GPtrArray *processes,
                 GHashTable *newest);
void budget_deinit(Budget *budget);

/*
 * Makes room for N bytes and what the tables of PROCESS may grow by. False if there is none to be
 * made. PROCESS itself is never dropped; it may be NULL.
 */
bool budget_make_room(Budget *budget, const Process *process, size_t n);

/* Forgets the process. */
void budget_drop(Budget *budget, Process *process);

/* True if a generation of that process was dropped. */
bool budget_has_dropped(const Budget *budget, const ProcessKey *key);
