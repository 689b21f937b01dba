/* SPDX-License-Identifier: MIT */
#include "perf/chain.h"

#include <linux/perf_event.h>

/* PERF_CONTEXT_USER_DEFERRED, since Linux 6.19. */
#define CONTEXT_DEFERRED ((uint64_t)-640)

static StackRoot chain_cut_of_mark(uint64_t mark)
{
        switch (mark) {
        case STACK_CUT_LIMIT_MARK:
                return STACK_CUT_FRAMES;
        case STACK_CUT_MARK:
                return STACK_CUT_COPY;
        case STACK_TORN_MARK:
                return STACK_TORN;
        default:
                return STACK_WHOLE;
        }
}

bool chain_next(Chain *chain, ChainLink *ret_link)
{
        bool is_after_hidden = false;

        for (; chain->n; chain->n--, chain->at++) {
                uint64_t ip = *chain->at;
                StackRoot cut;

                if (ip == STACK_HIDDEN_MARK) {
                        is_after_hidden = true;
                        continue;
                }
                if (ip >= PERF_CONTEXT_MAX) {
                        cut = chain_cut_of_mark(ip);
                        chain->cut = cut > chain->cut ? cut : chain->cut;
                        chain->has_begin |= ip == STACK_BEGIN_MARK;
                        /* A cookie follows; the kernel delivers the user part later. */
                        if (ip == CONTEXT_DEFERRED && chain->n > 1) {
                                chain->n--;
                                chain->at++;
                        }
                        chain->is_user = ip == PERF_CONTEXT_USER;
                        chain->is_marked = chain->is_first = true;
                        continue;
                }
                *ret_link = (ChainLink){
                        .ip = ip,
                        .address = chain->is_first || !ip ? ip : ip - 1,
                        /* Without a marker, addresses in the upper half are the kernel's. */
                        .is_user = chain->is_marked ? chain->is_user : !(ip >> 63),
                        .is_after_hidden = is_after_hidden,
                };
                chain->is_first = false;
                chain->n--;
                chain->at++;
                return true;
        }
        return false;
}
