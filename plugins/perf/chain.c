/* SPDX-License-Identifier: MIT */
#include "chain.h"

#include <linux/perf_event.h>

bool chain_next(Chain *chain, ChainLink *ret_link)
{
        for (; chain->n; chain->n--, chain->at++) {
                uint64_t ip = *chain->at;

                if (ip >= PERF_CONTEXT_MAX) {
                        chain->is_user = ip == PERF_CONTEXT_USER;
                        chain->is_marked = chain->is_first = true;
                        continue;
                }
                *ret_link = (ChainLink){
                        .ip = ip,
                        .address = chain->is_first || !ip ? ip : ip - 1,
                        /* Without a marker: addresses in the upper half are the kernel's. */
                        .is_user = chain->is_marked ? chain->is_user : !(ip >> 63),
                };
                chain->is_first = false;
                chain->n--;
                chain->at++;
                return true;
        }
        return false;
}
