/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Account: the memory of all processes' code maps and names, and their epochs
 *
 * Every structure that grows with what is traced books here what it allocates, malloc's overhead
 * included. The budget is compared with the sum.
 */

#include <stddef.h>
#include <stdint.h>

typedef struct Account {
        size_t n_bytes;
        size_t n_il_maps;
        size_t n_il_map_bytes; /* part of n_bytes */
        uint64_t last_epoch;   /* the latest that a code map was given */
} Account;

/* Bytes that malloc takes for SIZE bytes: with its header, in its granularity. */
static inline size_t account_size(size_t size)
{
        return size ? (size + 8 + 15) & ~(size_t)15 : 0;
}

static inline void account_add(Account *account, size_t size)
{
        account->n_bytes += account_size(size);
}

static inline void account_remove(Account *account, size_t size)
{
        account->n_bytes -= account_size(size);
}

static inline void account_change(Account *account, size_t from, size_t to)
{
        account->n_bytes += account_size(to) - account_size(from);
}
