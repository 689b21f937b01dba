/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Budget: eviction when memory runs out
 *
 * The user who takes most pays for the room. That user's data is evicted in this order: exited
 * processes, earliest exit first; unloaded bodies, oldest first; IL maps. If another user, who
 * takes less, needs the room, living bodies follow, and at last processes. If the user who takes
 * most needs the room, and nothing of the first three is left, the request fails.
 *
 * So no user loses data to a user who takes more.
 */

#include "tracker/identity.h"
#include "tracker/owners.h"

typedef struct Budget {
        size_t limit;           /* bytes; 0: none */
        Account *account;       /* borrowed: the total */
        Owners *owners;         /* borrowed, the tracker's */
        Strtab *names;          /* borrowed */
        GPtrArray *processes;   /* borrowed, the tracker's */
        Identities *identities; /* borrowed, the tracker's */
        GHashTable *dropped;    /* owned: OwnedKeys of dropped generations, see below */
        uint64_t n_processes, n_bodies, n_il_maps; /* evicted so far */
} Budget;

void budget_init(Budget *budget, Owners *owners, Strtab *names, GPtrArray *processes,
                 Identities *identities);
void budget_deinit(Budget *budget);

/*
 * Makes room for N bytes on ACCOUNT, a user's, and for the growth of PROCESS's tables. False if
 * that is impossible. PROCESS itself is never dropped; it may be NULL.
 */
bool budget_make_room(Budget *budget, const Account *account, const Process *process, size_t n);
/* Evicts until the limit is kept, from all users, but nothing alive. */
void budget_enforce(Budget *budget);

/* Drops the process, and keeps its key among the dropped ones. */
void budget_drop(Budget *budget, Process *process);
/* A process of that identity was refused: answers treat it like a dropped one. */
void budget_note_dropped(Budget *budget, const ProcessKey *key, uint32_t uid);

/* As a uid: any owner. */
#define BUDGET_ANY_UID (UINT32_MAX - 1)

/* True if a generation of that process was dropped. */
bool budget_has_dropped(const Budget *budget, const ProcessKey *key, uint32_t uid);
