/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Owners: an account for each user that has processes
 *
 * The data of a user's processes and traces is booked on the user's account. The budget makes room
 * at the expense of the largest account.
 */

#include "codemap/account.h"

#include <glib.h>
#include <stdbool.h>

typedef struct Owners {
        Account *total;    /* borrowed */
        GHashTable *table; /* owned: uid -> owned Account */
        GPtrArray
                *by_number; /* owned: borrowed Accounts, by number - 1; NULL: the number is free */
        guint n_most;       /* if there are more, accounts without bookings are removed */
} Owners;

void owners_init(Owners *owners, Account *total);
/* All structures that book on the accounts must be freed before. */
void owners_deinit(Owners *owners);

/*
 * The account of that user, made if there is none. The account lives while something is booked on
 * it.
 */
Account *owners_account(Owners *owners, uint32_t uid);

/* The user of ACCOUNT, which is one of OWNERS. */
uint32_t owners_uid(const Owners *owners, const Account *account);

/*
 * The largest account that is smaller than LIMIT; accounts of equal size are ordered by number.
 * LIMIT NULL: the largest of all. NULL: there is none.
 */
Account *owners_largest_below(const Owners *owners, const Account *limit);
