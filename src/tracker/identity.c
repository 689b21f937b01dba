/* SPDX-License-Identifier: MIT */
#include "tracker/identity.h"

#include "util/hash.h"

guint owned_key_hash(gconstpointer data)
{
        const OwnedKey *owned = data;

        return (guint)(hash_u64((uint64_t)owned->uid << 32 | process_key_hash(&owned->key)) >> 32);
}

gboolean owned_key_equal(gconstpointer a, gconstpointer b)
{
        const OwnedKey *x = a, *y = b;

        return x->uid == y->uid && process_key_equal(&x->key, &y->key);
}

static void identity_free(gpointer data)
{
        Identity *identity = data;

        g_ptr_array_unref(identity->generations);
        g_free(identity);
}

static void pids_free(gpointer data)
{
        g_ptr_array_unref(data);
}

void identities_init(Identities *identities)
{
        identities->recent = NULL;
        identities->table =
                g_hash_table_new_full(owned_key_hash, owned_key_equal, NULL, identity_free);
        identities->by_pid =
                g_hash_table_new_full(hash_number_key, g_direct_equal, NULL, pids_free);
}

void identities_deinit(Identities *identities)
{
        g_clear_pointer(&identities->by_pid, g_hash_table_unref);
        g_clear_pointer(&identities->table, g_hash_table_unref);
}

Identity *identities_find(const Identities *identities, const ProcessKey *key, uint32_t uid)
{
        return g_hash_table_lookup(identities->table, &(OwnedKey){*key, uid});
}

Identity *identities_find_again(Identities *identities, const ProcessKey *key, uint32_t uid)
{
        const Identity *recent = identities->recent;

        if (!recent || recent->id.key.pid != key->pid || recent->id.key.pid_ns != key->pid_ns ||
            recent->id.uid != uid)
                identities->recent = identities_find(identities, key, uid);
        return identities->recent;
}

const GPtrArray *identities_of_pid(const Identities *identities, int32_t pid)
{
        return g_hash_table_lookup(identities->by_pid, GINT_TO_POINTER(pid));
}

static Identity *identities_make(Identities *identities, const Process *process)
{
        Identity *identity = g_new0(Identity, 1);
        GPtrArray *of_pid = (GPtrArray *)identities_of_pid(identities, process->key.pid);

        identity->id = (OwnedKey){process->key, process->uid};
        identity->generations = g_ptr_array_new();
        g_hash_table_insert(identities->table, &identity->id, identity);
        if (!of_pid) {
                of_pid = g_ptr_array_new();
                g_hash_table_insert(identities->by_pid, GINT_TO_POINTER(process->key.pid), of_pid);
        }
        g_ptr_array_add(of_pid, identity);
        return identity;
}

/* Generations that began by TIME. */
static guint identity_upper_bound(const Identity *identity, uint64_t time)
{
        guint low = 0, high = identity->generations->len;

        while (low < high) {
                guint middle = low + (high - low) / 2;

                if (((const Process *)identity->generations->pdata[middle])->begin <= time)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

void identities_add(Identities *identities, Process *process, bool is_newest)
{
        Identity *identity = identities_find(identities, &process->key, process->uid);

        if (!identity)
                identity = identities_make(identities, process);
        g_ptr_array_insert(identity->generations,
                           (gint)identity_upper_bound(identity, process->begin), process);
        if (!is_newest)
                return;
        identity->newest = process;
        /* The generation before is over now. */
        process->account->may_evict = true;
}

void identities_remove(Identities *identities, Process *process)
{
        Identity *identity = identities_find(identities, &process->key, process->uid);
        GPtrArray *of_pid;

        g_ptr_array_remove(identity->generations, process);
        if (identity->newest == process)
                identity->newest = NULL;
        if (identity->generations->len)
                return;
        of_pid = (GPtrArray *)identities_of_pid(identities, process->key.pid);
        g_ptr_array_remove(of_pid, identity);
        if (!of_pid->len)
                g_hash_table_remove(identities->by_pid, GINT_TO_POINTER(process->key.pid));
        if (identities->recent == identity)
                identities->recent = NULL;
        g_hash_table_remove(identities->table, &identity->id);
}

bool identities_is_newest(const Identities *identities, const Process *process)
{
        return identities_find(identities, &process->key, process->uid)->newest == process;
}

Process *identity_at(const Identity *identity, uint64_t time)
{
        guint n = identity_upper_bound(identity, time);

        return identity->generations->pdata[n ? n - 1 : 0];
}
