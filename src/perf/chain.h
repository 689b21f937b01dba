/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Chain: the addresses of a callchain as the kernel recorded it
 *
 * Markers separate kernel addresses from user addresses. The first address after a marker is the
 * instruction pointer, or the address at which the program entered the kernel. The others are
 * return addresses: each call is before its return address.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Chain {
        const uint64_t *at;
        size_t n;
        bool is_user;    /* the next addresses are the program's */
        bool is_marked;  /* a marker has set is_user */
        bool is_cut;     /* STACK_CUT_MARK has occurred */
        bool is_limited; /* STACK_CUT_LIMIT_MARK has occurred */
        bool is_torn;    /* STACK_TORN_MARK has occurred */
        bool has_begin;  /* STACK_BEGIN_MARK has occurred */
        bool is_first;   /* no address since the last marker */
} Chain;

typedef struct ChainLink {
        uint64_t ip;
        uint64_t address; /* for lookups: in the executed instruction */
        bool is_user;
        bool is_after_hidden; /* STACK_HIDDEN_MARK was before it */
} ChainLink;

static inline Chain chain_of(const uint64_t *addresses, size_t n)
{
        return (Chain){.at = addresses, .n = n, .is_first = true};
}

/* False at the end. */
bool chain_next(Chain *chain, ChainLink *ret_link);

static inline bool chain_has_links(Chain chain)
{
        ChainLink link;

        return chain_next(&chain, &link);
}
