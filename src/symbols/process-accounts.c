/* SPDX-License-Identifier: MIT */
#include "symbols/process-accounts.h"

GHashTable *process_accounts_new(void)
{
        return g_hash_table_new_full(NULL, NULL, NULL, g_free);
}

ProcessAccount *process_accounts_get(GHashTable *accounts, int32_t pid)
{
        ProcessAccount *account = g_hash_table_lookup(accounts, GINT_TO_POINTER(pid));

        if (!account) {
                account = g_new0(ProcessAccount, 1);
                g_hash_table_insert(accounts, GINT_TO_POINTER(pid), account);
        }
        return account;
}

int32_t process_accounts_most_refused(GHashTable *accounts)
{
        uint64_t most = 0;
        int32_t pid = 0;
        GHashTableIter iter;
        void *key, *value;

        g_hash_table_iter_init(&iter, accounts);
        while (g_hash_table_iter_next(&iter, &key, &value)) {
                const ProcessAccount *account = value;

                if (account->n_refused <= most)
                        continue;
                most = account->n_refused;
                pid = GPOINTER_TO_INT(key);
        }
        return pid;
}
