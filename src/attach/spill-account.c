/* SPDX-License-Identifier: MIT */
#include "attach/spill-account.h"

#include "attach/error.h"
#include "util/size-text.h"

#include <sys/mman.h>

struct SpillAccount {
        uint64_t max; /* bytes of all files */
        size_t n_mapped, n_shares;
        SpillShare shares[];
};

bool spill_size_find(const char *variable, uint64_t *size, GError **error)
{
        const char *text = g_getenv(variable);

        if (!text || size_from_text(text, size))
                return true;
        if (g_str_equal(text, "0")) {
                *size = 0;
                return true;
        }
        g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_FAILED,
                    "%s=%s is not a size: give bytes, or a number with K, M or G, such as 256M",
                    variable, text);
        return false;
}

SpillAccount *spill_account_new(uint64_t max, size_t n_shares)
{
        const size_t n = sizeof(SpillAccount) + n_shares * sizeof(SpillShare);
        SpillAccount *account =
                mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

        if (account == MAP_FAILED)
                return NULL;
        account->max = max;
        account->n_mapped = n;
        account->n_shares = n_shares;
        return account;
}

void spill_account_free(SpillAccount *account)
{
        if (account)
                munmap(account, account->n_mapped);
}

uint64_t spill_account_max(const SpillAccount *account)
{
        return account->max;
}

uint64_t spill_account_n_bytes(const SpillAccount *account, const uid_t *uid)
{
        uint64_t n_bytes = 0;
        size_t i;

        for (i = 0; i < account->n_shares; i++)
                if (!uid || account->shares[i].uid == *uid)
                        n_bytes += atomic_load(&account->shares[i].n_bytes);
        return n_bytes;
}

SpillShare *spill_share_open(SpillAccount *account, uid_t uid)
{
        size_t i;

        for (i = 0; account && i < account->n_shares; i++) {
                SpillShare *share = &account->shares[i];

                if (share->is_used)
                        continue;
                share->account = account;
                share->uid = uid;
                share->is_used = true;
                spill_share_clear(share);
                return share;
        }
        return NULL;
}

void spill_share_clear(SpillShare *share)
{
        spill_share_set(share, 0);
}

void spill_share_close(SpillShare *share)
{
        if (!share)
                return;
        spill_share_clear(share);
        share->is_used = false;
}

SpillRoom spill_share_room(const SpillShare *share, uint64_t n)
{
        if (!share)
                return SPILL_ROOM;
        if (spill_account_n_bytes(share->account, NULL) + n > share->account->max)
                return SPILL_TOTAL_FULL;
        return spill_account_n_bytes(share->account, &share->uid) + n > share->account->max / 2
                       ? SPILL_USER_FULL
                       : SPILL_ROOM;
}

void spill_share_set(SpillShare *share, uint64_t n)
{
        if (share)
                atomic_store(&share->n_bytes, n);
}
