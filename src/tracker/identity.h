/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Identity: the key of a process: pid namespace, pid, and owner
 *
 * A traced program writes its pid and its namespace itself, and can forge another user's process.
 * It cannot forge the owner, because the kernel reports that. So events from one user's buffers
 * belong only to processes of that user.
 */

#include "tracker/process.h"

typedef struct Identity {
        OwnedKey id;            /* its uid may be PROCESS_OF_NOBODY */
        GPtrArray *generations; /* owned, of borrowed Processes, in order of their begin */
        Process *newest;        /* borrowed; NULL: dropped */
} Identity;

typedef struct Identities {
        GHashTable *table;  /* owned: borrowed OwnedKey (of its value) -> owned Identity */
        GHashTable *by_pid; /* owned: pid -> owned GPtrArray of borrowed Identities */
        Identity *recent;   /* borrowed: the latest result of identities_find_again(), or NULL */
} Identities;

/* For GHashTables by OwnedKey. */
guint owned_key_hash(gconstpointer key);
gboolean owned_key_equal(gconstpointer a, gconstpointer b);

void identities_init(Identities *identities);
void identities_deinit(Identities *identities);

/* NULL if the process is not known. */
Identity *identities_find(const Identities *identities, const ProcessKey *key, uint32_t uid);
/* The same, fast if the previous call had the same identity, as for most records. */
Identity *identities_find_again(Identities *identities, const ProcessKey *key, uint32_t uid);
/* All identities with that pid, in any namespace and of any owner; NULL: none. Borrowed. */
const GPtrArray *identities_of_pid(const Identities *identities, int32_t pid);

/* Adds a process to its identity. IS_NEWEST: it becomes the newest generation. */
void identities_add(Identities *identities, Process *process, bool is_newest);
void identities_remove(Identities *identities, Process *process);
bool identities_is_newest(const Identities *identities, const Process *process);

/* The latest generation that began by TIME, else the first one; never NULL. */
Process *identity_at(const Identity *identity, uint64_t time);
