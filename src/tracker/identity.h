/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Identity: what distinguishes processes: pid namespace, pid, and owner
 *
 * A traced program writes its pid and its namespace itself, and can write those of another user's
 * process. The owner it cannot choose: the kernel knows it. So what comes from the buffers of one
 * user only ever belongs to processes of that user.
 */

#include "tracker/process.h"

typedef struct Identity {
        OwnedKey id;            /* its uid may be PROCESS_OF_NOBODY */
        GPtrArray *generations; /* owned, of borrowed Processes, in order of their begin */
        Process *newest;        /* borrowed; NULL: it has been forgotten */
} Identity;

typedef struct Identities {
        GHashTable *table;  /* owned: borrowed OwnedKey (of its value) -> owned Identity */
        GHashTable *by_pid; /* owned: pid -> owned GPtrArray of borrowed Identities */
        Identity *recent;   /* borrowed: the one that identities_find_again() found, or NULL */
} Identities;

/* For GHashTables by OwnedKey. */
guint owned_key_hash(gconstpointer key);
gboolean owned_key_equal(gconstpointer a, gconstpointer b);

void identities_init(Identities *identities);
void identities_deinit(Identities *identities);

/* NULL if no process of that identity is known. */
Identity *identities_find(const Identities *identities, const ProcessKey *key, uint32_t uid);
/* The same, quickly if it was the one before, too: as for most records. */
Identity *identities_find_again(Identities *identities, const ProcessKey *key, uint32_t uid);
/* All identities with that pid, in any namespace and of any owner; NULL: none. Borrowed. */
const GPtrArray *identities_of_pid(const Identities *identities, int32_t pid);

/* Adds a process to its identity. IS_NEWEST: it is the newest generation from now on. */
void identities_add(Identities *identities, Process *process, bool is_newest);
void identities_remove(Identities *identities, Process *process);
bool identities_is_newest(const Identities *identities, const Process *process);

/* The latest generation that began by TIME, else the first one; never NULL. */
Process *identity_at(const Identity *identity, uint64_t time);
