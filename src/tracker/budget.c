/* SPDX-License-Identifier: MIT */
#include "tracker/budget.h"

/* Evicted at a time, because the search for the oldest looks at every process. */
enum { BODIES_AT_ONCE = 64, IL_MAPS_AT_ONCE = 64 };
/* Dropped processes that are remembered. */
enum { MAX_DROPPED = 65536 };

void budget_init(Budget *budget, Account *account, Strtab *names, GPtrArray *processes,
                 Identities *identities)
{
        *budget = (Budget){
                .account = account,
                .names = names,
                .processes = processes,
                .identities = identities,
                .dropped = g_hash_table_new_full(owned_key_hash, owned_key_equal, g_free, NULL)};
}

void budget_deinit(Budget *budget)
{
        g_clear_pointer(&budget->dropped, g_hash_table_unref);
}

bool budget_has_dropped(const Budget *budget, const ProcessKey *key, uint32_t uid)
{
        return g_hash_table_contains(budget->dropped, &(OwnedKey){*key, uid});
}

static void budget_note_dropped(Budget *budget, const ProcessKey *key, uint32_t uid)
{
        const OwnedKey owned = {*key, uid};

        g_hash_table_add(budget->dropped, g_memdup2(&owned, sizeof(owned)));
}

/* It has exited, or another program has its pid. */
static bool budget_is_over(const Budget *budget, const Process *process)
{
        return process->exit != BODY_FOREVER || !identities_is_newest(budget->identities, process);
}

void budget_drop(Budget *budget, Process *process)
{
        if (g_hash_table_size(budget->dropped) >= MAX_DROPPED)
                g_hash_table_remove_all(budget->dropped);
        budget_note_dropped(budget, &process->key, process->uid);
        budget_note_dropped(budget, &process->key, BUDGET_ANY_UID);
        identities_remove(budget->identities, process);
        g_ptr_array_remove(budget->processes, process);
        budget->n_processes++;
}

static bool budget_drop_oldest(Budget *budget, const Process *spared)
{
        Process *oldest = NULL;
        guint i;

        for (i = 0; i < budget->processes->len; i++) {
                Process *process = budget->processes->pdata[i];

                if (process != spared && budget_is_over(budget, process) &&
                    (!oldest || process->last < oldest->last))
                        oldest = process;
        }
        if (oldest)
                budget_drop(budget, oldest);
        return oldest != NULL;
}

static bool budget_forget_bodies(Budget *budget)
{
        Process *best = NULL;
        const Body *oldest = NULL;
        guint i;

        for (i = 0; i < budget->processes->len; i++) {
                Process *process = budget->processes->pdata[i];
                const Body *body = codemap_oldest_dead(process->map);

                if (body && (!oldest || body->until < oldest->until)) {
                        oldest = body;
                        best = process;
                }
        }
        for (i = 0; best && i < BODIES_AT_ONCE && codemap_oldest_dead(best->map); i++) {
                codemap_forget_oldest_dead(best->map);
                budget->n_bodies++;
        }
        return best != NULL;
}

static bool budget_forget_il_maps(Budget *budget)
{
        guint i;

        for (i = 0; i < budget->processes->len; i++) {
                Process *process = budget->processes->pdata[i];
                size_t before = budget->account->n_il_maps;

                if (codemap_forget_il_maps(process->map, IL_MAPS_AT_ONCE)) {
                        budget->n_il_maps += before - budget->account->n_il_maps;
                        return true;
                }
        }
        return false;
}

bool budget_make_room(Budget *budget, const Process *process, size_t n)
{
        while (budget->limit && budget->account->n_bytes + n +
                                                (process ? codemap_growth(process->map) : 0) +
                                                strtab_growth(budget->names, 0) >
                                        budget->limit)
                if (!budget_drop_oldest(budget, process) && !budget_forget_bodies(budget) &&
                    !budget_forget_il_maps(budget))
                        return false;
        return true;
}
