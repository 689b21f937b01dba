/* SPDX-License-Identifier: MIT */
#include "lines/image-sources.h"

#include "util/clock.h"

#include <stdlib.h>
#include <time.h>

/* Maximum of accounts; accounts of long ended processes are reused. */
#define MAX_ACCOUNTS 1024u

void image_sources_deinit(ImageSources *sources)
{
        symbol_dirs_deinit(&sources->dirs);
        bundles_deinit(&sources->bundles);
        free(sources->accounts);
        *sources = (ImageSources){0};
}

static bool account_is_over(const SourceAccount *account, time_t now)
{
        return now - account->since >= SOURCES_PERIOD;
}

/* An unused account; NULL: none. */
static SourceAccount *sources_old_account(ImageSources *sources, time_t now)
{
        size_t i;

        for (i = 0; i < sources->n_accounts; i++) {
                SourceAccount *account = &sources->accounts[i];

                if (account_is_over(account, now) && !account->n_held)
                        return account;
        }
        return NULL;
}

/* NULL: no memory. */
static SourceAccount *sources_new_account(ImageSources *sources, time_t now)
{
        SourceAccount *old =
                sources->n_accounts >= MAX_ACCOUNTS ? sources_old_account(sources, now) : NULL;
        SourceAccount *accounts;

        if (old)
                return old;
        accounts = realloc(sources->accounts, (sources->n_accounts + 1) * sizeof(*accounts));
        if (!accounts)
                return NULL;
        sources->accounts = accounts;
        return &accounts[sources->n_accounts++];
}

/* NULL: no memory. */
static SourceAccount *sources_account_of(ImageSources *sources, pid_t process)
{
        const time_t now = clock_ms() / 1000;
        SourceAccount *account = NULL;
        size_t i;

        for (i = sources->n_accounts; !account && i > 0; i--)
                if (sources->accounts[i - 1].pid == process)
                        account = &sources->accounts[i - 1];
        if (!account) {
                account = sources_new_account(sources, now);
                if (!account)
                        return NULL;
                *account = (SourceAccount){.pid = process, .since = now};
        }
        if (account_is_over(account, now)) {
                account->since = now;
                account->work = 0;
        }
        return account;
}

static SourceAccount *sources_account(ImageSources *sources, pid_t pid)
{
        return sources_account_of(sources, sources->process ? sources->process : pid);
}

bool image_sources_may_look(ImageSources *sources, pid_t pid)
{
        SourceAccount *account = sources_account(sources, pid);

        if (account && account->work < SOURCES_MAX_WORK)
                return true;
        if (account)
                account->n_refused++;
        return false;
}

void image_sources_add_work(ImageSources *sources, pid_t pid, uint64_t n)
{
        SourceAccount *account = sources_account(sources, pid);

        if (account)
                account->work += n;
}

void image_sources_hold(ImageSources *sources, pid_t pid, ptrdiff_t n)
{
        SourceAccount *account = sources_account_of(sources, pid);

        if (account)
                account->n_held += (size_t)n;
}

pid_t image_sources_largest(const ImageSources *sources)
{
        size_t most = 0, i;
        pid_t pid = 0;

        for (i = 0; i < sources->n_accounts; i++) {
                if (sources->accounts[i].n_held <= most)
                        continue;
                most = sources->accounts[i].n_held;
                pid = sources->accounts[i].pid;
        }
        return pid;
}

pid_t image_sources_spent(const ImageSources *sources)
{
        uint64_t most = 0;
        pid_t pid = 0;
        size_t i;

        for (i = 0; i < sources->n_accounts; i++) {
                if (sources->accounts[i].n_refused <= most)
                        continue;
                most = sources->accounts[i].n_refused;
                pid = sources->accounts[i].pid;
        }
        return pid;
}
