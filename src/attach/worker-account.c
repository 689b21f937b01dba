/* SPDX-License-Identifier: MIT */
#include "attach/worker-account.h"

#include "attach/error.h"
#include "util/size-text.h"

#include <string.h>
#include <sys/mman.h>

struct WorkerAccount {
        uint64_t max[_WORKER_KEEP_MAX]; /* bytes of all workers */
        size_t n_mapped, n_shares;
        WorkerShare shares[];
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

WorkerAccount *worker_account_new(const uint64_t max[_WORKER_KEEP_MAX], size_t n_shares)
{
        const size_t n = sizeof(WorkerAccount) + n_shares * sizeof(WorkerShare);
        WorkerAccount *account =
                mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

        if (account == MAP_FAILED)
                return NULL;
        memcpy(account->max, max, sizeof(account->max));
        account->n_mapped = n;
        account->n_shares = n_shares;
        return account;
}

void worker_account_free(WorkerAccount *account)
{
        if (account)
                munmap(account, account->n_mapped);
}

uint64_t worker_account_max(const WorkerAccount *account, WorkerKeep keep)
{
        return account->max[keep];
}

uint64_t worker_account_n_bytes(const WorkerAccount *account, WorkerKeep keep, const uid_t *uid)
{
        uint64_t n_bytes = 0;
        size_t i;

        for (i = 0; i < account->n_shares; i++)
                if (!uid || account->shares[i].uid == *uid)
                        n_bytes += atomic_load(&account->shares[i].n_bytes[keep]);
        return n_bytes;
}

WorkerShare *worker_share_open(WorkerAccount *account, uid_t uid)
{
        size_t i;

        for (i = 0; account && i < account->n_shares; i++) {
                WorkerShare *share = &account->shares[i];

                if (share->is_used)
                        continue;
                share->account = account;
                share->uid = uid;
                share->is_used = true;
                worker_share_clear(share);
                return share;
        }
        return NULL;
}

void worker_share_clear(WorkerShare *share)
{
        WorkerKeep keep;

        for (keep = 0; keep < _WORKER_KEEP_MAX; keep++)
                worker_share_set(share, keep, 0);
}

void worker_share_close(WorkerShare *share)
{
        if (!share)
                return;
        worker_share_clear(share);
        share->is_used = false;
}

WorkerRoom worker_share_room(const WorkerShare *share, WorkerKeep keep, uint64_t n)
{
        const WorkerAccount *account = share ? share->account : NULL;

        if (!account)
                return WORKER_ROOM;
        if (worker_account_n_bytes(account, keep, NULL) + n > account->max[keep])
                return WORKER_TOTAL_FULL;
        return worker_account_n_bytes(account, keep, &share->uid) + n > account->max[keep] / 2
                       ? WORKER_USER_FULL
                       : WORKER_ROOM;
}

void worker_share_set(WorkerShare *share, WorkerKeep keep, uint64_t n)
{
        if (share)
                atomic_store(&share->n_bytes[keep], n);
}
