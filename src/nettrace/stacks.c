/* SPDX-License-Identifier: MIT */
#include "nettrace/stacks.h"

#include "nettrace/cursor.h"

typedef struct NettraceStack {
        size_t first; /* of `addresses` */
        uint32_t n;
} NettraceStack;

void nettrace_stacks_init(NettraceStacks *stacks)
{
        *stacks = (NettraceStacks){
                .by_id = g_hash_table_new(NULL, NULL),
                .stacks = g_array_new(FALSE, FALSE, sizeof(NettraceStack)),
                .addresses = g_array_new(FALSE, FALSE, sizeof(uint64_t)),
        };
}

void nettrace_stacks_deinit(NettraceStacks *stacks)
{
        g_hash_table_destroy(stacks->by_id);
        g_array_unref(stacks->stacks);
        g_array_unref(stacks->addresses);
}

void nettrace_stacks_clear(NettraceStacks *stacks)
{
        g_hash_table_remove_all(stacks->by_id);
        g_array_set_size(stacks->stacks, 0);
        g_array_set_size(stacks->addresses, 0);
}

static void stacks_add(NettraceStacks *stacks, uint32_t id, NettraceCursor addresses,
                       uint32_t n_pointer)
{
        const NettraceStack stack = {.first = stacks->addresses->len,
                                     .n = (uint32_t)(nettrace_left(&addresses) / n_pointer)};
        uint32_t i;

        if (!stack.n || stack.n > NETTRACE_MAX_ADDRESSES - stacks->addresses->len ||
            stacks->stacks->len >= NETTRACE_MAX_ADDRESSES)
                return;
        for (i = 0; i < stack.n; i++) {
                uint64_t address = nettrace_number(&addresses, n_pointer);

                g_array_append_val(stacks->addresses, address);
        }
        g_hash_table_insert(stacks->by_id, GUINT_TO_POINTER(id),
                            GUINT_TO_POINTER(stacks->stacks->len));
        g_array_append_val(stacks->stacks, stack);
}

bool nettrace_stacks_take(NettraceStacks *stacks, const NettraceBlock *block, uint32_t n_pointer)
{
        NettraceCursor cursor = nettrace_cursor(block->bytes, block->n_bytes);
        uint32_t id = nettrace_u32(&cursor);
        uint32_t n = nettrace_u32(&cursor);

        if (n_pointer != sizeof(uint32_t) && n_pointer != sizeof(uint64_t))
                return false;
        for (; n > 0 && !cursor.is_short; n--, id++) {
                uint32_t n_bytes = nettrace_u32(&cursor);
                const uint8_t *bytes = nettrace_bytes(&cursor, n_bytes);

                if (bytes)
                        stacks_add(stacks, id, nettrace_cursor(bytes, n_bytes), n_pointer);
        }
        return !cursor.is_short;
}

const uint64_t *nettrace_stacks_get(const NettraceStacks *stacks, uint32_t id, size_t *ret_n)
{
        const NettraceStack *stack;
        gpointer index;

        *ret_n = 0;
        if (!g_hash_table_lookup_extended(stacks->by_id, GUINT_TO_POINTER(id), NULL, &index))
                return NULL;
        stack = &g_array_index(stacks->stacks, NettraceStack, GPOINTER_TO_UINT(index));
        *ret_n = stack->n;
        return &g_array_index(stacks->addresses, uint64_t, stack->first);
}
