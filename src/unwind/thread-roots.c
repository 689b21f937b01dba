/* SPDX-License-Identifier: MIT */
#include "unwind/thread-roots.h"

typedef struct ThreadRoot {
        uint64_t address;
        int32_t tid;
        unsigned n; /* stacks */
} ThreadRoot;

static guint thread_root_hash(gconstpointer data)
{
        const ThreadRoot *root = data;

        return g_int64_hash(&root->address) ^ (guint)root->tid * 0x9e3779b1u;
}

static gboolean thread_root_equal(gconstpointer one, gconstpointer other)
{
        const ThreadRoot *a = one, *b = other;

        return a->address == b->address && a->tid == b->tid;
}

void thread_roots_init(ThreadRoots *roots)
{
        roots->counts = g_hash_table_new_full(thread_root_hash, thread_root_equal, g_free, NULL);
        roots->most = g_hash_table_new_full(NULL, NULL, NULL, g_free);
}

void thread_roots_deinit(ThreadRoots *roots)
{
        g_clear_pointer(&roots->counts, g_hash_table_unref);
        g_clear_pointer(&roots->most, g_hash_table_unref);
}

void thread_roots_note(ThreadRoots *roots, int32_t tid, uint64_t address)
{
        const ThreadRoot key = {.address = address, .tid = tid};
        ThreadRoot *root = g_hash_table_lookup(roots->counts, &key), *most;

        if (!root) {
                if (g_hash_table_size(roots->counts) >= THREAD_ROOTS_MAX)
                        return;
                root = g_memdup2(&key, sizeof(key));
                g_hash_table_insert(roots->counts, root, root);
        }
        root->n++;
        most = g_hash_table_lookup(roots->most, GINT_TO_POINTER(tid));
        if (!most) {
                most = g_new0(ThreadRoot, 1);
                g_hash_table_insert(roots->most, GINT_TO_POINTER(tid), most);
        }
        if (root->n > most->n)
                *most = *root;
}

uint64_t thread_roots_find(const ThreadRoots *roots, int32_t tid)
{
        const ThreadRoot *most = g_hash_table_lookup(roots->most, GINT_TO_POINTER(tid));

        return most ? most->address : 0;
}
