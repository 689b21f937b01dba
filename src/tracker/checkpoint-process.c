/* SPDX-License-Identifier: MIT */

/*
 * Processes in checkpoints, apart from their code maps
 */

#include "tracker/checkpoint-parts.h"

#include <stdlib.h>
#include <string.h>

/* Tables are written in order of their keys, so that equal tables have equal checkpoints. */
typedef struct TablePair {
        uint64_t key[2];
        void *value;
} TablePair;

static int compare_pairs(const void *a, const void *b)
{
        const TablePair *x = a, *y = b;
        int i = x->key[0] != y->key[0] ? 0 : 1;

        return x->key[i] < y->key[i] ? -1 : x->key[i] > y->key[i];
}

typedef void (*TableKeyOf)(gconstpointer key, uint64_t *ret_key);

static void key_of_tid(gconstpointer key, uint64_t *ret_key)
{
        ret_key[0] = (uint32_t)GPOINTER_TO_INT(key);
        ret_key[1] = 0;
}

static void key_of_version(gconstpointer key, uint64_t *ret_key)
{
        const MethodKey *method = key;

        ret_key[0] = method->method_id;
        ret_key[1] = method->rejit_id;
}

static void key_of_method(gconstpointer key, uint64_t *ret_key)
{
        ret_key[0] = *(const uint64_t *)key;
        ret_key[1] = 0;
}

/*
 * The table's pairs in order; the caller frees them. NULL if there is no memory; the checkpoint is
 * bad then.
 */
static TablePair *checkpoint_sort_table(CheckpointIo *io, GHashTable *table, TableKeyOf key_of,
                                        size_t *ret_n)
{
        TablePair *pairs = malloc((g_hash_table_size(table) + 1) * sizeof(*pairs));
        GHashTableIter iter;
        gpointer key, value;
        size_t n = 0;

        *ret_n = 0;
        if (!pairs) {
                checkpoint_refuse(io);
                return NULL;
        }
        g_hash_table_iter_init(&iter, table);
        while (g_hash_table_iter_next(&iter, &key, &value)) {
                key_of(key, pairs[n].key);
                pairs[n++].value = value;
        }
        qsort(pairs, n, sizeof(*pairs), compare_pairs);
        *ret_n = n;
        return pairs;
}

/* IS_LIVING follows from the end of its life; the bytes keep it so that old files stay readable. */
static void checkpoint_module(CheckpointIo *io, Module *module, bool *is_living)
{
        checkpoint_u64(io, &module->id);
        checkpoint_u64(io, &module->loaded);
        checkpoint_u64(io, &module->unloaded);
        checkpoint_bool(io, &module->has_load);
        checkpoint_bool(io, is_living);
        checkpoint_bool(io, &module->has_flags);
        checkpoint_u32(io, &module->assembly);
        checkpoint_u32(io, &module->flags);
        checkpoint_u32(io, &module->pdb_age);
        checkpoint_raw(io, module->pdb_guid, sizeof(module->pdb_guid));
        checkpoint_str(io, &module->path);
        checkpoint_str(io, &module->native_path);
        checkpoint_str(io, &module->pdb_path);
}

static void checkpoint_put_module(CheckpointIo *io, Module *module)
{
        bool is_living = module_is_living(module);

        checkpoint_put_name(io, module->path);
        checkpoint_put_name(io, module->native_path);
        checkpoint_put_name(io, module->pdb_path);
        checkpoint_begin(io, CHECKPOINT_MODULE);
        checkpoint_module(io, module, &is_living);
}

static void checkpoint_get_module(CheckpointIo *io, Process *process)
{
        Module read = {0};
        bool is_living;

        checkpoint_module(io, &read, &is_living);
        if (!io->is_bad && is_living == module_is_living(&read) &&
            (!read.assembly || assembly_table_get(&process->assemblies, read.assembly)) &&
            process_restore_module(process, &read))
                return;
        strtab_unref(io->names, read.path);
        strtab_unref(io->names, read.native_path);
        strtab_unref(io->names, read.pdb_path);
        checkpoint_refuse(io);
}

static void checkpoint_assembly(CheckpointIo *io, Assembly *assembly, bool *is_living)
{
        checkpoint_u64(io, &assembly->id);
        checkpoint_u64(io, &assembly->app_domain_id);
        checkpoint_u64(io, &assembly->binding_id);
        checkpoint_u64(io, &assembly->loaded);
        checkpoint_u64(io, &assembly->unloaded);
        checkpoint_u32(io, &assembly->flags);
        checkpoint_bool(io, &assembly->has_load);
        checkpoint_bool(io, &assembly->has_flags);
        checkpoint_bool(io, is_living);
        checkpoint_str(io, &assembly->name);
}

static void checkpoint_put_assemblies(CheckpointIo *io, const AssemblyTable *table)
{
        uint32_t i;

        for (i = 1; i <= assembly_table_n(table); i++) {
                Assembly assembly = *assembly_table_get(table, i);
                bool is_living = assembly_is_living(&assembly);

                checkpoint_put_name(io, assembly.name);
                checkpoint_begin(io, CHECKPOINT_ASSEMBLY);
                checkpoint_assembly(io, &assembly, &is_living);
        }
}

static void checkpoint_get_assembly(CheckpointIo *io, Process *process)
{
        Assembly read = {0};
        bool is_living;

        checkpoint_assembly(io, &read, &is_living);
        if (!io->is_bad && is_living == assembly_is_living(&read) &&
            assembly_table_restore(&process->assemblies, &read))
                return;
        strtab_unref(io->names, read.name);
        checkpoint_refuse(io);
}

static void checkpoint_jitting(CheckpointIo *io, int32_t *tid, Jitting *jitting)
{
        checkpoint_i32(io, tid);
        checkpoint_u64(io, &jitting->method_id);
        checkpoint_u64(io, &jitting->time);
        checkpoint_u32(io, &jitting->il_size);
        checkpoint_str(io, &jitting->name_space);
        checkpoint_str(io, &jitting->name);
        checkpoint_str(io, &jitting->signature);
}

static void checkpoint_put_jittings(CheckpointIo *io, const Process *process)
{
        size_t n, i;
        TablePair *pairs = checkpoint_sort_table(io, process->jitting, key_of_tid, &n);

        for (i = 0; i < n; i++) {
                Jitting *jitting = pairs[i].value;
                int32_t tid = (int32_t)pairs[i].key[0];

                checkpoint_put_name(io, jitting->name_space);
                checkpoint_put_name(io, jitting->name);
                checkpoint_put_name(io, jitting->signature);
                checkpoint_begin(io, CHECKPOINT_JITTING);
                checkpoint_jitting(io, &tid, jitting);
        }
        free(pairs);
}

static void checkpoint_get_jitting(CheckpointIo *io, Process *process)
{
        Jitting jitting = {0};
        int32_t tid;

        checkpoint_jitting(io, &tid, &jitting);
        process_begin_jitting(process, tid, &jitting);
}

static void checkpoint_kept_map(CheckpointIo *io, MethodKey *key, IlMap **map)
{
        checkpoint_u64(io, &key->method_id);
        checkpoint_u64(io, &key->rejit_id);
        checkpoint_il_map(io, map);
}

static void checkpoint_put_kept_maps(CheckpointIo *io, const Process *process)
{
        size_t n, i;
        TablePair *pairs = checkpoint_sort_table(io, process->rundown_maps, key_of_version, &n);

        for (i = 0; i < n; i++) {
                MethodKey key = {pairs[i].key[0], pairs[i].key[1]};
                IlMap *map = pairs[i].value;

                checkpoint_begin(io, CHECKPOINT_KEPT_MAP);
                checkpoint_kept_map(io, &key, &map);
        }
        free(pairs);
}

static void checkpoint_get_kept_map(CheckpointIo *io, Process *process)
{
        MethodKey key;
        IlMap *map;

        checkpoint_kept_map(io, &key, &map);
        if (map)
                process_keep_il_map(process, key.method_id, key.rejit_id, map);
        else
                checkpoint_refuse(io);
}

static void checkpoint_stub(CheckpointIo *io, Stub *stub)
{
        checkpoint_u64(io, &stub->method_id);
        checkpoint_u64(io, &stub->module_id);
        checkpoint_u64(io, &stub->time);
        checkpoint_bool(io, &stub->is_reverse);
        checkpoint_stub_target(io, &stub->target);
}

static void checkpoint_put_stubs(CheckpointIo *io, const Process *process)
{
        size_t n, i;
        TablePair *pairs = checkpoint_sort_table(io, process->stubs.table, key_of_method, &n);

        for (i = 0; i < n; i++) {
                Stub *stub = pairs[i].value;

                checkpoint_put_target_names(io, &stub->target);
                checkpoint_begin(io, CHECKPOINT_STUB);
                checkpoint_stub(io, stub);
        }
        free(pairs);
}

/* When reading, newly allocated. */
static void checkpoint_bytes(CheckpointIo *io, uint8_t **bytes, uint32_t *n)
{
        checkpoint_count(io, n, 1);
        if (!io->is_writing && *n)
                *bytes = g_malloc0(*n);
        checkpoint_raw(io, *bytes, *n);
}

static void checkpoint_details(CheckpointIo *io, int32_t *tid, ThreadDetails *details)
{
        checkpoint_i32(io, tid);
        checkpoint_u64(io, &details->time);
        checkpoint_u64(io, &details->method_id);
        checkpoint_str(io, &details->type_args);
        checkpoint_bytes(io, &details->types, &details->n_types);
        checkpoint_u64(io, &details->tree_method_id);
        checkpoint_u64(io, &details->tree_rejit_id);
        checkpoint_u32(io, &details->n_pieces);
        checkpoint_bytes(io, &details->tree, &details->n_tree);
}

static void checkpoint_put_all_details(CheckpointIo *io, const Process *process)
{
        size_t n, i;
        TablePair *pairs = checkpoint_sort_table(io, process->details.threads, key_of_tid, &n);

        for (i = 0; i < n; i++) {
                ThreadDetails *details = pairs[i].value;
                int32_t tid = (int32_t)pairs[i].key[0];

                checkpoint_put_name(io, details->type_args);
                checkpoint_begin(io, CHECKPOINT_DETAILS);
                checkpoint_details(io, &tid, details);
        }
        free(pairs);
}

static void checkpoint_get_details(CheckpointIo *io, Process *process)
{
        ThreadDetails details = {0};
        int32_t tid;

        checkpoint_details(io, &tid, &details);
        detail_table_restore(&process->details, tid, &details);
}

static void checkpoint_get_stub(CheckpointIo *io, Process *process)
{
        Stub stub = {0};

        checkpoint_stub(io, &stub);
        stub_table_restore(&process->stubs, &stub);
}

typedef struct JitCounts {
        uint64_t n_succeeded[_JIT_ATTEMPT_MAX];
        uint64_t n_others[_JIT_ATTEMPT_MAX];
        JitBackground background;
        uint64_t background_begin;
        JitLookups lookups;
        uint64_t pause_begin;
} JitCounts;

static void checkpoint_jit_counts(CheckpointIo *io, JitCounts *counts)
{
        checkpoint_u64_array(io, counts->n_succeeded, G_N_ELEMENTS(counts->n_succeeded));
        checkpoint_u64_array(io, counts->n_others, G_N_ELEMENTS(counts->n_others));
        checkpoint_u64(io, &counts->background.n_runs);
        checkpoint_u64(io, &counts->background.time);
        checkpoint_u64(io, &counts->background.n_methods);
        checkpoint_u64(io, &counts->background.n_pauses);
        checkpoint_u64(io, &counts->background.pause_time);
        checkpoint_u64(io, &counts->background.n_new_methods);
        checkpoint_u64(io, &counts->background.n_pending);
        checkpoint_u64(io, &counts->background.n_most_pending);
        checkpoint_u64(io, &counts->background_begin);
        checkpoint_u64(io, &counts->lookups.n);
        checkpoint_u64(io, &counts->lookups.n_found);
        checkpoint_u64(io, &counts->lookups.time);
        checkpoint_u64(io, &counts->pause_begin);
}

static int compare_reasons(const void *a, const void *b, void *names)
{
        const JitReason *x = a, *y = b;

        /* At most one entry counts the others; the checkpoint does not have it. */
        if (!x->reason || !y->reason)
                return !x->reason - !y->reason;
        return strcmp(strtab_text(names, x->reason), strtab_text(names, y->reason));
}

static void checkpoint_put_jit_stats(CheckpointIo *io, const JitStats *stats)
{
        JitCounts counts = {.background = jitstats_background(stats),
                            .background_begin = jitstats_background_begin(stats),
                            .lookups = jitstats_lookups(stats),
                            .pause_begin = jitstats_pause_begin(stats)};
        uint8_t attempt;

        for (attempt = 0; attempt < _JIT_ATTEMPT_MAX; attempt++) {
                counts.n_succeeded[attempt] = jitstats_n_succeeded(stats, (JitAttempt)attempt);
                counts.n_others[attempt] = jitstats_n_others(stats, (JitAttempt)attempt);
        }
        checkpoint_begin(io, CHECKPOINT_JIT_STATS);
        checkpoint_jit_counts(io, &counts);
        for (attempt = 0; attempt < _JIT_ATTEMPT_MAX; attempt++) {
                size_t n, i;
                JitReason *reasons = jitstats_reasons(stats, (JitAttempt)attempt, &n);

                qsort_r(reasons, n, sizeof(*reasons), compare_reasons, io->names);
                for (i = 0; i < n; i++) {
                        if (!reasons[i].reason) /* the others */
                                continue;
                        checkpoint_put_name(io, reasons[i].reason);
                        checkpoint_begin(io, CHECKPOINT_JIT_REASON);
                        checkpoint_u8(io, &attempt);
                        checkpoint_u64(io, &reasons[i].count);
                        checkpoint_str(io, &reasons[i].reason);
                }
                g_free(reasons);
        }
}

static void checkpoint_get_jit_stats(CheckpointIo *io, Process *process)
{
        JitCounts counts;

        checkpoint_jit_counts(io, &counts);
        if (process->jit_stats) {
                checkpoint_refuse(io);
                return;
        }
        process->jit_stats = jitstats_new(process->names, process->account);
        jitstats_restore(process->jit_stats, counts.n_succeeded, counts.n_others,
                         &counts.background, counts.background_begin);
        jitstats_restore_lookups(process->jit_stats, &counts.lookups, counts.pause_begin);
}

static void checkpoint_get_jit_reason(CheckpointIo *io, Process *process)
{
        uint8_t attempt;
        uint64_t count;
        Str reason;

        checkpoint_u8(io, &attempt);
        checkpoint_u64(io, &count);
        checkpoint_str(io, &reason);
        if (io->is_bad || !process->jit_stats || attempt >= _JIT_ATTEMPT_MAX) {
                strtab_unref(io->names, reason);
                checkpoint_refuse(io);
        } else if (!jitstats_restore_reason(process->jit_stats, (JitAttempt)attempt, reason,
                                            count)) {
                checkpoint_refuse(io);
        }
}

void checkpoint_put_process(CheckpointIo *io, Process *process)
{
        guint i;

        checkpoint_put_assemblies(io, &process->assemblies);
        for (i = 0; i < process->all_modules->len; i++)
                checkpoint_put_module(io, process->all_modules->pdata[i]);
        for (i = 0; i < process->rundowns->len; i++) {
                checkpoint_begin(io, CHECKPOINT_RUNDOWN);
                checkpoint_rundown(io, &g_array_index(process->rundowns, Rundown, i));
        }
        checkpoint_put_process_gaps(io, &process->gaps);
        checkpoint_put_jittings(io, process);
        checkpoint_put_kept_maps(io, process);
        checkpoint_put_stubs(io, process);
        checkpoint_put_all_details(io, process);
        if (process->jit_stats)
                checkpoint_put_jit_stats(io, process->jit_stats);
        checkpoint_put_code_map(io, process->map);
}

static void checkpoint_get_rundown(CheckpointIo *io, Process *process)
{
        Rundown rundown;

        checkpoint_rundown(io, &rundown);
        process_add_rundown(process, &rundown);
}

static void checkpoint_get_gaps_item(CheckpointIo *io, Process *process)
{
        checkpoint_get_process_gaps(io, &process->gaps);
}

static void checkpoint_get_inferred_gap(CheckpointIo *io, Process *process)
{
        checkpoint_get_process_gap(io, &process->gaps, false);
}

static void checkpoint_get_reported_gap(CheckpointIo *io, Process *process)
{
        checkpoint_get_process_gap(io, &process->gaps, true);
}

static void checkpoint_get_unannounced_item(CheckpointIo *io, Process *process)
{
        checkpoint_get_unannounced(io, &process->gaps);
}

static void (*const GETTERS[_CHECKPOINT_TAG_MAX])(CheckpointIo *, Process *) = {
        [CHECKPOINT_ASSEMBLY] = checkpoint_get_assembly,
        [CHECKPOINT_MODULE] = checkpoint_get_module,
        [CHECKPOINT_RUNDOWN] = checkpoint_get_rundown,
        [CHECKPOINT_JITTING] = checkpoint_get_jitting,
        [CHECKPOINT_KEPT_MAP] = checkpoint_get_kept_map,
        [CHECKPOINT_JIT_STATS] = checkpoint_get_jit_stats,
        [CHECKPOINT_JIT_REASON] = checkpoint_get_jit_reason,
        [CHECKPOINT_PROCESS_GAPS] = checkpoint_get_gaps_item,
        [CHECKPOINT_INFERRED_GAP] = checkpoint_get_inferred_gap,
        [CHECKPOINT_UNANNOUNCED] = checkpoint_get_unannounced_item,
        [CHECKPOINT_REPORTED_GAP] = checkpoint_get_reported_gap,
        [CHECKPOINT_STUB] = checkpoint_get_stub,
        [CHECKPOINT_DETAILS] = checkpoint_get_details,
};

void checkpoint_get_process(CheckpointIo *io, CheckpointTag tag, Process *process)
{
        if (GETTERS[tag])
                GETTERS[tag](io, process);
        else
                checkpoint_get_code_map(io, tag, process->map, process->all_modules->len);
}
