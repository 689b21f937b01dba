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

/*
 * Marks in a sample's chain, beside perf's markers: the copy of the stack ended, or perf's limit of
 * frames was reached.
 */
#define STACK_CUT_MARK       (UINT64_MAX - 2999)
#define STACK_CUT_LIMIT_MARK (UINT64_MAX - 2998)
/* The mark of a stack whose walk ended where the thread begins. */
#define STACK_BEGIN_MARK (UINT64_MAX - 2995)
/* The mark of a stack whose walk by frame pointers ended in code without one. */
#define STACK_TORN_MARK (UINT64_MAX - 2996)
/* The mark between two addresses where a caller is missing. */
#define STACK_HIDDEN_MARK (UINT64_MAX - 2997)

/* How the outer end of a stack was cut. If several are true, the largest counts. */
typedef enum StackRoot {
        STACK_WHOLE,
        STACK_CUT_FRAMES, /* perf's limit of frames */
        STACK_CUT_COPY,   /* the end of the copied stack */
        STACK_TORN,       /* no managed caller, in a thread with managed frames */
        _STACK_ROOT_MAX,
} StackRoot;

typedef struct Chain {
        const uint64_t *at;
        size_t n;
        bool is_user;   /* the next addresses are the program's */
        bool is_marked; /* a marker has set is_user */
        bool is_first;  /* no address since the last marker */
        bool has_begin; /* STACK_BEGIN_MARK has occurred */
        StackRoot cut;  /* by the marks so far */
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
