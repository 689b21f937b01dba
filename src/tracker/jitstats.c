/* SPDX-License-Identifier: MIT */
#include "tracker/jitstats.h"

#include <stdlib.h>

/* Reasons with an entry. The runtime has some dozens; a traced program could forge more. */
enum { MAX_REASONS = 256 };
/* Bytes of a reason with an entry. The runtime's are short. */
enum { MAX_REASON_BYTES = 1024 };

/* Bytes of an entry of a hash table, with the free entries next to it. */
#define TABLE_ENTRY 48

/*
 * Lookups in progress at once. If more threads look up at once, which is rare, some lookups are not
 * counted.
 */
enum { MAX_LOOKUPS = 64 };

/* A lookup of precompiled code in progress on a thread. */
typedef struct JitLookup {
        uint64_t method_id;
        uint64_t time; /* 0: none */
        int32_t tid;
} JitLookup;

struct JitStats {
        Strtab *names;
        Account *account;
        uint64_t n_succeeded[_JIT_ATTEMPT_MAX];
        uint64_t n_others[_JIT_ATTEMPT_MAX];
        GHashTable *reasons[_JIT_ATTEMPT_MAX]; /* owned: Str, with a reference -> owned count */
        JitBackground background;
        uint64_t background_begin; /* ns: of the run in progress; 0: none */
        uint64_t pause_begin;      /* ns: of the pause in progress; 0: none */
        JitLookups lookups;
        /* By thread number modulo MAX_LOOKUPS; not in checkpoints. */
        JitLookup under_way[MAX_LOOKUPS];
};

#define STATS_SIZE (sizeof(JitStats) + _JIT_ATTEMPT_MAX * 256)

JitStats *jitstats_new(Strtab *names, Account *account)
{
        JitStats *stats = g_new0(JitStats, 1);
        int i;

        stats->names = names;
        stats->account = account;
        for (i = 0; i < _JIT_ATTEMPT_MAX; i++)
                stats->reasons[i] =
                        g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free);
        account_add(account, STATS_SIZE);
        return stats;
}

void jitstats_free(JitStats *stats)
{
        GHashTableIter iter;
        gpointer reason;
        int i;

        if (!stats)
                return;
        for (i = 0; i < _JIT_ATTEMPT_MAX; i++) {
                g_hash_table_iter_init(&iter, stats->reasons[i]);
                while (g_hash_table_iter_next(&iter, &reason, NULL)) {
                        strtab_unref(stats->names, GPOINTER_TO_UINT(reason));
                        account_remove(stats->account, TABLE_ENTRY + sizeof(uint64_t));
                }
                g_hash_table_unref(stats->reasons[i]);
        }
        account_remove(stats->account, STATS_SIZE);
        g_free(stats);
}

static void jitstats_add_reason(JitStats *stats, GHashTable *reasons, Str reason, uint64_t count)
{
        g_hash_table_insert(reasons, GUINT_TO_POINTER(reason), g_memdup2(&count, sizeof(count)));
        account_add(stats->account, TABLE_ENTRY + sizeof(count));
}

static void jitstats_add_failure(JitStats *stats, JitAttempt attempt, const Record *record)
{
        const Value *value = record_value(record, FIELD_FailReason);
        GHashTable *reasons = stats->reasons[attempt];
        uint64_t *count;
        Str reason;

        if (!value || !value->n || value->n > MAX_REASON_BYTES) {
                stats->n_others[attempt]++;
                return;
        }
        reason = strtab_add_for(stats->names, stats->account, (const char *)value->data, value->n);
        count = g_hash_table_lookup(reasons, GUINT_TO_POINTER(reason));
        if (count) {
                (*count)++;
                strtab_unref(stats->names, reason);
        } else if (g_hash_table_size(reasons) < MAX_REASONS) {
                jitstats_add_reason(stats, reasons, reason, 1);
        } else {
                stats->n_others[attempt]++;
                strtab_unref(stats->names, reason);
        }
}

static JitLookup *jitstats_lookup_of(JitStats *stats, const Record *record)
{
        return &stats->under_way[(uint32_t)record->tid % MAX_LOOKUPS];
}

static void jitstats_begin_lookup(JitStats *stats, const Record *record)
{
        *jitstats_lookup_of(stats, record) = (JitLookup){
                .method_id = record_u64(record, FIELD_MethodID),
                .time = record->time,
                .tid = record->tid,
        };
}

static void jitstats_end_lookup(JitStats *stats, const Record *record)
{
        JitLookup *lookup = jitstats_lookup_of(stats, record);

        if (!lookup->time || lookup->tid != record->tid || record->time < lookup->time ||
            lookup->method_id != record_u64(record, FIELD_MethodID))
                return;
        stats->lookups.n++;
        stats->lookups.n_found += record_u64(record, FIELD_EntryPoint) != 0;
        stats->lookups.time += record->time - lookup->time;
        lookup->time = 0;
}

static void jitstats_add_pending(JitStats *stats, const Record *record)
{
        JitBackground *background = &stats->background;

        background->n_pending = record_u64(record, FIELD_PendingMethodCount);
        background->n_most_pending = MAX(background->n_most_pending, background->n_pending);
}

void jitstats_add(JitStats *stats, const Record *record)
{
        JitBackground *background = &stats->background;

        switch (record->event->kind) {
        case EVENT_KIND_JIT_INLINED:
                stats->n_succeeded[JIT_INLINING]++;
                break;
        case EVENT_KIND_JIT_NOT_INLINED:
                jitstats_add_failure(stats, JIT_INLINING, record);
                break;
        case EVENT_KIND_JIT_TAIL_CALL:
                stats->n_succeeded[JIT_TAIL_CALL]++;
                break;
        case EVENT_KIND_JIT_NO_TAIL_CALL:
                jitstats_add_failure(stats, JIT_TAIL_CALL, record);
                break;
        case EVENT_KIND_JIT_BACKGROUND_START:
                stats->background_begin = record->time;
                jitstats_add_pending(stats, record);
                break;
        case EVENT_KIND_JIT_BACKGROUND_STOP:
                background->n_runs++;
                background->n_methods += record_u64(record, FIELD_JittedMethodCount);
                if (stats->background_begin && record->time > stats->background_begin)
                        background->time += record->time - stats->background_begin;
                stats->background_begin = 0;
                jitstats_add_pending(stats, record);
                break;
        case EVENT_KIND_JIT_PAUSE:
                background->n_pauses++;
                stats->pause_begin = record->time;
                break;
        case EVENT_KIND_JIT_RESUME:
                background->n_new_methods += record_u64(record, FIELD_NewMethodCount);
                if (stats->pause_begin && record->time > stats->pause_begin)
                        background->pause_time += record->time - stats->pause_begin;
                stats->pause_begin = 0;
                break;
        case EVENT_KIND_JIT_LOOKUP:
                jitstats_begin_lookup(stats, record);
                break;
        case EVENT_KIND_R2R_ENTRY:
                jitstats_end_lookup(stats, record);
                break;
        default:
                break;
        }
}

uint64_t jitstats_n_succeeded(const JitStats *stats, JitAttempt attempt)
{
        return stats->n_succeeded[attempt];
}

static int compare_reason_counts(const void *a, const void *b)
{
        const JitReason *x = a, *y = b;

        if (x->count != y->count)
                return x->count > y->count ? -1 : 1;
        return x->reason < y->reason ? -1 : x->reason > y->reason;
}

JitReason *jitstats_reasons(const JitStats *stats, JitAttempt attempt, size_t *ret_n)
{
        GHashTable *reasons = stats->reasons[attempt];
        JitReason *list = g_new(JitReason, g_hash_table_size(reasons) + 1);
        GHashTableIter iter;
        gpointer reason, count;
        size_t n = 0;

        g_hash_table_iter_init(&iter, reasons);
        while (g_hash_table_iter_next(&iter, &reason, &count))
                list[n++] = (JitReason){GPOINTER_TO_UINT(reason), *(uint64_t *)count};
        if (stats->n_others[attempt])
                list[n++] = (JitReason){0, stats->n_others[attempt]};
        qsort(list, n, sizeof(*list), compare_reason_counts);
        *ret_n = n;
        return list;
}

JitBackground jitstats_background(const JitStats *stats)
{
        return stats->background;
}

uint64_t jitstats_background_begin(const JitStats *stats)
{
        return stats->background_begin;
}

uint64_t jitstats_n_others(const JitStats *stats, JitAttempt attempt)
{
        return stats->n_others[attempt];
}

void jitstats_restore(JitStats *stats, const uint64_t *n_succeeded, const uint64_t *n_others,
                      const JitBackground *background, uint64_t background_begin)
{
        int i;

        for (i = 0; i < _JIT_ATTEMPT_MAX; i++) {
                stats->n_succeeded[i] = n_succeeded[i];
                stats->n_others[i] = n_others[i];
        }
        stats->background = *background;
        stats->background_begin = background_begin;
}

bool jitstats_restore_reason(JitStats *stats, JitAttempt attempt, Str reason, uint64_t count)
{
        GHashTable *reasons = stats->reasons[attempt];

        if (!reason || g_hash_table_size(reasons) >= MAX_REASONS ||
            g_hash_table_contains(reasons, GUINT_TO_POINTER(reason))) {
                strtab_unref(stats->names, reason);
                return false;
        }
        jitstats_add_reason(stats, reasons, reason, count);
        return true;
}

JitLookups jitstats_lookups(const JitStats *stats)
{
        return stats->lookups;
}

uint64_t jitstats_pause_begin(const JitStats *stats)
{
        return stats->pause_begin;
}

void jitstats_restore_lookups(JitStats *stats, const JitLookups *lookups, uint64_t pause_begin)
{
        stats->lookups = *lookups;
        stats->pause_begin = pause_begin;
}
