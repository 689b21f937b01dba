/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Owners: an account for each user that has processes
 *
 * What is kept of a user's processes and traces is booked on the user's account. The budget makes
 * room at the expense of the user with the largest one.
 */

#include "codemap/account.h"

#include <glib.h>
#include <stdbool.h>

typedef struct Owners {
        Account *total;    /* borrowed */
        GHashTable *table; /* owned: uid -> owned Account */
        GPtrArray
                *by_number; /* owned: borrowed Accounts, by number - 1; NULL: the number is free */
        guint n_most;       /* with more of them, those with nothing booked are removed */
} Owners;

void owners_init(Owners *owners, Account *total);
/* Everything that books on the accounts is gone. */
void owners_deinit(Owners *owners);

/* The account of that user; made if there is none. It stays as long as something is booked on it.
 */
Account *owners_account(Owners *owners, uint32_t uid);

/* Whose account it is; ACCOUNT is one of OWNERS. */
uint32_t owners_uid(const Owners *owners, const Account *account);

/*
 * The largest account that is smaller than LIMIT, and not LIMIT itself; among equal ones the order
 * is by number. LIMIT may be NULL: the largest of all. NULL: there is none.
 */
Account *owners_largest_below(const Owners *owners, const Account *limit);
