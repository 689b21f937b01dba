/* SPDX-License-Identifier: MIT */
#include "tracker/budget.h"

/* Evicted at a time, because each search for the oldest reads every process. */
enum { BODIES_AT_ONCE = 64, IL_MAPS_AT_ONCE = 64, PROCESSES_AT_ONCE = 64 };
/* A process with at most this many bodies is small. */
enum { FEW_BODIES = 64 };
/* Small processes are dropped together, until this fraction of the limit is free. */
enum { HEADROOM = 256 };
/* Dropped processes whose keys are kept. */
enum { MAX_DROPPED = 65536 };

void budget_init(Budget *budget, Owners *owners, Strtab *names, GPtrArray *processes,
                 Identities *identities)
{
        *budget = (Budget){
                .account = owners->total,
                .owners = owners,
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

static void budget_remember(Budget *budget, const ProcessKey *key, uint32_t uid)
{
        const OwnedKey owned = {*key, uid};

        g_hash_table_add(budget->dropped, g_memdup2(&owned, sizeof(owned)));
}

void budget_note_dropped(Budget *budget, const ProcessKey *key, uint32_t uid)
{
        if (g_hash_table_size(budget->dropped) >= MAX_DROPPED)
                g_hash_table_remove_all(budget->dropped);
        budget_remember(budget, key, uid);
        budget_remember(budget, key, BUDGET_ANY_UID);
}

/* True if the process has exited, or another program has its pid. */
static bool budget_is_over(const Budget *budget, const Process *process)
{
        return process->exit != BODY_FOREVER || !identities_is_newest(budget->identities, process);
}

/* Drops the process, but leaves it in the array of processes. */
static void budget_let_go(Budget *budget, Process *process)
{
        budget_note_dropped(budget, &process->key, process->uid);
        identities_remove(budget->identities, process);
        budget->n_processes++;
}

void budget_drop(Budget *budget, Process *process)
{
        budget_let_go(budget, process);
        g_ptr_array_remove(budget->processes, process);
}

/* The candidates for eviction. */
typedef struct Eviction {
        Account *account;      /* of the user whose share is too large */
        const Process *spared; /* or NULL */
        bool is_for_other;     /* another user needs the room: living bodies and processes may be
                                * evicted, too */
} Eviction;

static bool eviction_concerns(const Eviction *eviction, const Process *process)
{
        return process->account == eviction->account && process != eviction->spared;
}

/* The next processes to evict: in order, up to PROCESSES_AT_ONCE. */
typedef struct Candidates {
        struct {
                uint64_t last;
                guint index; /* in the array of processes */
        } all[PROCESSES_AT_ONCE];
        guint n;
} Candidates;

static void candidates_add(Candidates *candidates, uint64_t last, guint index)
{
        guint i = candidates->n;

        if (i == PROCESSES_AT_ONCE && last >= candidates->all[i - 1].last)
                return;
        if (i == PROCESSES_AT_ONCE)
                i--;
        else
                candidates->n++;
        for (; i > 0 && candidates->all[i - 1].last > last; i--)
                candidates->all[i] = candidates->all[i - 1];
        candidates->all[i].last = last;
        candidates->all[i].index = index;
}

/* Closes the holes that dropped processes have left. */
static void budget_close_holes(Budget *budget)
{
        GPtrArray *processes = budget->processes;
        guint i, n = 0;

        for (i = 0; i < processes->len; i++) {
                gpointer process = g_steal_pointer(&processes->pdata[i]);

                if (process)
                        processes->pdata[n++] = process;
        }
        g_ptr_array_set_size(processes, (gint)n);
}

/*
 * Drops the oldest processes: of the exited ones, or of all. Drops one large process, or several
 * small ones, so that the next record does not search all processes again.
 */
static bool budget_drop_oldest(Budget *budget, const Eviction *eviction, bool is_over)
{
        size_t n_bytes = budget->account->n_bytes;
        Candidates candidates;
        guint i;

        candidates.n = 0;
        for (i = 0; i < budget->processes->len; i++) {
                const Process *process = budget->processes->pdata[i];

                if (eviction_concerns(eviction, process) &&
                    (!is_over || budget_is_over(budget, process)))
                        candidates_add(&candidates, process->last, i);
        }
        for (i = 0; i < candidates.n; i++) {
                gpointer *process = &budget->processes->pdata[candidates.all[i].index];

                if (i && (codemap_n_bodies(((const Process *)*process)->map) > FEW_BODIES ||
                          n_bytes - budget->account->n_bytes > budget->limit / HEADROOM))
                        break;
                budget_let_go(budget, *process);
                process_free(g_steal_pointer(process));
        }
        if (candidates.n)
                budget_close_holes(budget);
        return candidates.n > 0;
}

static bool budget_forget_bodies(Budget *budget, const Eviction *eviction)
{
        Process *best = NULL;
        const Body *oldest = NULL;
        guint i;

        for (i = 0; i < budget->processes->len; i++) {
                Process *process = budget->processes->pdata[i];
                const Body *body = process->account == eviction->account
                                           ? codemap_oldest_dead(process->map)
                                           : NULL;

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

static bool budget_forget_il_maps(Budget *budget, const Eviction *eviction)
{
        guint i;

        for (i = 0; eviction->account->n_il_maps && i < budget->processes->len; i++) {
                Process *process = budget->processes->pdata[i];
                size_t before = budget->account->n_il_maps;

                if (process->account == eviction->account &&
                    codemap_forget_il_maps(process->map, IL_MAPS_AT_ONCE)) {
                        budget->n_il_maps += before - budget->account->n_il_maps;
                        return true;
                }
        }
        return false;
}

/*
 * Evicts living bodies of the process with most of them. A small process is rather dropped as a
 * whole.
 */
static bool budget_forget_living(Budget *budget, const Eviction *eviction)
{
        Process *largest = NULL;
        uint32_t n;
        guint i;

        for (i = 0; i < budget->processes->len; i++) {
                Process *process = budget->processes->pdata[i];

                if (eviction_concerns(eviction, process) &&
                    (!largest || codemap_n_live(process->map) > codemap_n_live(largest->map)))
                        largest = process;
        }
        if (!largest || codemap_n_live(largest->map) <= FEW_BODIES)
                return false;
        n = codemap_forget_living(largest->map, BODIES_AT_ONCE);
        budget->n_bodies += n;
        return n > 0;
}

/*
 * Evicts exited processes, unloaded bodies and IL maps. A search reads every process; after a
 * search in vain there is no other until something may have become evictable.
 */
static bool budget_evict_ended(Budget *budget, const Eviction *eviction)
{
        if (!eviction->account->may_evict)
                return false;
        if (budget_drop_oldest(budget, eviction, true) || budget_forget_bodies(budget, eviction) ||
            budget_forget_il_maps(budget, eviction))
                return true;
        eviction->account->may_evict = eviction->spared && budget_is_over(budget, eviction->spared);
        return false;
}

static bool budget_evict(Budget *budget, const Eviction *eviction)
{
        return budget_evict_ended(budget, eviction) ||
               (eviction->is_for_other && (budget_forget_living(budget, eviction) ||
                                           budget_drop_oldest(budget, eviction, false)));
}

static bool budget_has_room(const Budget *budget, const Process *process, size_t n)
{
        return !budget->limit || budget->account->n_bytes + n +
                                                 (process ? codemap_growth(process->map) : 0) +
                                                 strtab_growth(budget->names, 0) <=
                                         budget->limit;
}

bool budget_make_room(Budget *budget, const Account *account, const Process *process, size_t n)
{
        Eviction eviction = {.spared = process};
        const Account *exhausted = NULL; /* this account and larger ones have nothing to evict */

        while (!budget_has_room(budget, process, n)) {
                eviction.account = owners_largest_below(budget->owners, exhausted);
                eviction.is_for_other = eviction.account != account;
                if (!eviction.account)
                        return false;
                if (budget_evict(budget, &eviction))
                        continue;
                if (eviction.account == account)
                        return false;
                exhausted = eviction.account;
        }
        return true;
}

void budget_enforce(Budget *budget)
{
        Eviction eviction = {0};
        const Account *exhausted = NULL;

        while (!budget_has_room(budget, NULL, 0)) {
                eviction.account = owners_largest_below(budget->owners, exhausted);
                if (!eviction.account)
                        return;
                if (!budget_evict(budget, &eviction))
                        exhausted = eviction.account;
        }
}
