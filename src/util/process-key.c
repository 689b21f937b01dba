/* SPDX-License-Identifier: MIT */
#include "util/process-key.h"

#include "util/hash.h"

guint process_key_hash(gconstpointer data)
{
        const ProcessKey *key = data;

        return (guint)(hash_u64(hash_u64(key->pid_ns) ^ (uint32_t)key->pid) >> 32);
}

gboolean process_key_equal(gconstpointer a, gconstpointer b)
{
        const ProcessKey *x = a, *y = b;

        return x->pid_ns == y->pid_ns && x->pid == y->pid;
}
