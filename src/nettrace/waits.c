/* SPDX-License-Identifier: MIT */
#include "nettrace/waits.h"

static void wait_free(gpointer stack)
{
        g_array_unref(stack);
}

void nettrace_waits_init(NettraceWaits *waits)
{
        *waits = (NettraceWaits){
                .by_thread = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, wait_free),
        };
}

void nettrace_waits_deinit(NettraceWaits *waits)
{
        g_hash_table_destroy(waits->by_thread);
        g_clear_pointer(&waits->ended, g_array_unref);
}

void nettrace_waits_begin(NettraceWaits *waits, uint64_t thread, const uint64_t *addresses,
                          size_t n)
{
        GArray *stack;

        g_hash_table_remove(waits->by_thread, &thread);
        if (!n || g_hash_table_size(waits->by_thread) >= NETTRACE_MAX_WAITS)
                return;
        stack = g_array_new(FALSE, FALSE, sizeof(uint64_t));
        g_array_append_vals(stack, addresses, (guint)MIN(n, NETTRACE_MAX_WAIT_ADDRESSES));
        g_hash_table_insert(waits->by_thread, g_memdup2(&thread, sizeof(thread)), stack);
}

const uint64_t *nettrace_waits_end(NettraceWaits *waits, uint64_t thread, size_t *ret_n)
{
        GArray *stack = g_hash_table_lookup(waits->by_thread, &thread);

        *ret_n = stack ? stack->len : 0;
        if (!stack)
                return NULL;
        g_clear_pointer(&waits->ended, g_array_unref);
        waits->ended = g_array_ref(stack);
        g_hash_table_remove(waits->by_thread, &thread);
        return (const uint64_t *)(const void *)waits->ended->data;
}

void nettrace_waits_forget(NettraceWaits *waits, uint64_t thread)
{
        g_hash_table_remove(waits->by_thread, &thread);
}

void nettrace_waits_clear(NettraceWaits *waits)
{
        g_hash_table_remove_all(waits->by_thread);
}
