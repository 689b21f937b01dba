/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Budget: what is evicted when memory runs out
 *
 * Room is made at the expense of the user who takes most. Of that user go, in this order: processes
 * that are over, the one that ended first; bodies that were unloaded, the oldest first; IL maps.
 * If room is needed for another user, who takes less: then also bodies that are alive, and at last
 * processes. A user who takes most gets no further room when nothing of the first three is left.
 *
 * So nobody loses anything to a user who takes more.
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
        GHashTable *dropped;    /* owned: OwnedKeys that have a forgotten generation, see below */
        uint64_t n_processes, n_bodies, n_il_maps; /* evicted so far */
} Budget;

void budget_init(Budget *budget, Owners *owners, Strtab *names, GPtrArray *processes,
                 Identities *identities);
void budget_deinit(Budget *budget);

/*
 * Makes room for N bytes on ACCOUNT, a user's, and for the growth of PROCESS's tables. False if
 * that is not possible. PROCESS itself is never dropped; it may be NULL.
 */
bool budget_make_room(Budget *budget, const Account *account, const Process *process, size_t n);
/* Evicts what is more than the limit, of all users, but nothing that is alive. */
void budget_enforce(Budget *budget);

/* Forgets the process, and remembers that it did. */
void budget_drop(Budget *budget, Process *process);
/* A process of that identity is not kept: it is answered about as one that was forgotten. */
void budget_note_dropped(Budget *budget, const ProcessKey *key, uint32_t uid);

/* In place of a uid: of any owner. */
#define BUDGET_ANY_UID (UINT32_MAX - 1)

/* True if a generation of that process was dropped. */
bool budget_has_dropped(const Budget *budget, const ProcessKey *key, uint32_t uid);
