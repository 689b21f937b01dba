/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Account: the memory of code maps and names, and their epochs
 *
 * Every structure that grows with the traced programs books its allocations here, malloc's overhead
 * included. Each user has an account; the total of all accounts is compared with the budget.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Account Account;

struct Account {
        Account *total;  /* borrowed: gets each booking, too; NULL: this is the total */
        uint32_t number; /* unique among the accounts of one total; 0: the total */
        size_t n_bytes;
        size_t n_il_maps;
        size_t n_il_map_bytes; /* part of n_bytes */
        uint64_t last_epoch;   /* total only: the latest epoch given to a code map */
        bool may_evict;        /* false: the last search found nothing to evict */
};

/* Bytes that malloc takes for SIZE bytes: with its header, rounded up to its granularity. */
static inline size_t account_size(size_t size)
{
        return size ? (size + 8 + 15) & ~(size_t)15 : 0;
}

/* Books N bytes of malloc: header and granularity are counted already. */
static inline void account_add_exact(Account *account, size_t n)
{
        account->n_bytes += n;
        if (account->total)
                account->total->n_bytes += n;
}

static inline void account_remove_exact(Account *account, size_t n)
{
        account_add_exact(account, -n);
}

static inline void account_add(Account *account, size_t size)
{
        account_add_exact(account, account_size(size));
}

static inline void account_remove(Account *account, size_t size)
{
        account_remove_exact(account, account_size(size));
}

static inline void account_change(Account *account, size_t from, size_t to)
{
        account_add_exact(account, account_size(to) - account_size(from));
}

/* Books an IL map of N bytes of malloc: header and granularity are counted already. */
static inline void account_add_il_map(Account *account, size_t n)
{
        for (; account; account = account->total) {
                account->n_bytes += n;
                account->n_il_map_bytes += n;
                account->n_il_maps++;
                account->may_evict = true;
        }
}

static inline void account_remove_il_map(Account *account, size_t n)
{
        for (; account; account = account->total) {
                account->n_bytes -= n;
                account->n_il_map_bytes -= n;
                account->n_il_maps--;
        }
}

/* A new epoch: no code map of the same total has had it. */
static inline uint64_t account_next_epoch(Account *account)
{
        return ++(account->total ? account->total : account)->last_epoch;
}
