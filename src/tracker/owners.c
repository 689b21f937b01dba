/* SPDX-License-Identifier: MIT */
#include "tracker/owners.h"

#include "util/hash.h"

enum { FEW = 64 };

void owners_init(Owners *owners, Account *total)
{
        *owners = (Owners){
                .total = total,
                .table = g_hash_table_new_full(hash_number_key, g_direct_equal, NULL, g_free),
                .by_number = g_ptr_array_new(),
                .n_most = FEW};
}

void owners_deinit(Owners *owners)
{
        g_clear_pointer(&owners->table, g_hash_table_unref);
        g_clear_pointer(&owners->by_number, g_ptr_array_unref);
}

static gboolean account_is_unused(gpointer uid, gpointer data, gpointer user_data)
{
        const Account *account = data;
        Owners *owners = user_data;

        if (account->n_bytes)
                return FALSE;
        owners->by_number->pdata[account->number - 1] = NULL;
        return TRUE;
}

/* Each name contains an account's number: numbers are small and unique. */
static uint32_t owners_take_number(Owners *owners, Account *account)
{
        guint i;

        for (i = 0; i < owners->by_number->len && owners->by_number->pdata[i]; i++)
                ;
        if (i == owners->by_number->len)
                g_ptr_array_add(owners->by_number, NULL);
        owners->by_number->pdata[i] = account;
        return i + 1;
}

Account *owners_account(Owners *owners, uint32_t uid)
{
        Account *account = g_hash_table_lookup(owners->table, GUINT_TO_POINTER(uid));

        if (account)
                return account;
        if (g_hash_table_size(owners->table) >= owners->n_most) {
                g_hash_table_foreach_remove(owners->table, account_is_unused, owners);
                owners->n_most = MAX(FEW, 2 * g_hash_table_size(owners->table));
        }
        account = g_new0(Account, 1);
        account->total = owners->total;
        account->number = owners_take_number(owners, account);
        g_hash_table_insert(owners->table, GUINT_TO_POINTER(uid), account);
        return account;
}

uint32_t owners_uid(const Owners *owners, const Account *account)
{
        GHashTableIter iter;
        gpointer key, value;

        g_hash_table_iter_init(&iter, owners->table);
        while (g_hash_table_iter_next(&iter, &key, &value) && value != account)
                ;
        return GPOINTER_TO_UINT(key);
}

static bool account_is_smaller(const Account *a, const Account *b)
{
        return a->n_bytes != b->n_bytes ? a->n_bytes < b->n_bytes : a->number < b->number;
}

Account *owners_largest_below(const Owners *owners, const Account *limit)
{
        Account *largest = NULL, *account;
        GHashTableIter iter;
        gpointer value;

        g_hash_table_iter_init(&iter, owners->table);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                account = value;
                if ((!limit || account_is_smaller(account, limit)) &&
                    (!largest || account_is_smaller(largest, account)))
                        largest = account;
        }
        return largest;
}
