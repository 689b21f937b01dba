/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Chain: the addresses of a callchain as the kernel recorded it
 *
 * Markers among the addresses say whether those behind them are the kernel's or the program's. The
 * first behind each is where the processor was, or had entered the kernel; the others are return
 * addresses: the call that they belong to is before them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Chain {
        const uint64_t *at;
        size_t n;
        bool is_user;   /* those that come are the program's */
        bool is_marked; /* a marker said so */
        bool is_first;  /* no address since the last marker */
} Chain;

typedef struct ChainLink {
        uint64_t ip;
        uint64_t address; /* to look up: in the instruction that was executed */
        bool is_user;
} ChainLink;

static inline Chain chain_of(const uint64_t *addresses, size_t n)
{
        return (Chain){.at = addresses, .n = n, .is_first = true};
}

/* False: no more of them. */
bool chain_next(Chain *chain, ChainLink *ret_link);

static inline bool chain_has_links(Chain chain)
{
        ChainLink link;

        return chain_next(&chain, &link);
}
