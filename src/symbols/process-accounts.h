/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Process accounts: the cost of each recorded process
 *
 * The recorded processes choose the files that are read for them. The user of the accounts decides
 * how much a process may cost.
 */

#include <glib.h>
#include <stdint.h>

typedef struct ProcessAccount {
        uint64_t work;      /* bytes that were read or executed for it */
        uint64_t n_bytes;   /* bytes of memory for the process */
        uint64_t n_refused; /* requests that were refused because of the cost */
} ProcessAccount;

/* pid -> ProcessAccount, owned. To be freed with g_hash_table_unref(). */
GHashTable *process_accounts_new(void);
/* The account of PID, which is added if it is new. It belongs to the table. */
ProcessAccount *process_accounts_get(GHashTable *accounts, int32_t pid);
/* The process with most n_refused; 0: none. */
int32_t process_accounts_most_refused(GHashTable *accounts);
