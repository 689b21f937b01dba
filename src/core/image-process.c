/* SPDX-License-Identifier: MIT */

/*
 * Processes in images: what is beside the code map
 */

#include "core/image-parts.h"

#include "core/stub.h"

#include <stdlib.h>
#include <string.h>

/* Tables come in order of their keys, so that equal tables have equal images. */
typedef struct Pair {
        uint64_t key[2];
        void *value;
} Pair;

static int compare_pairs(const void *a, const void *b)
{
        const Pair *x = a, *y = b;
        int i = x->key[0] != y->key[0] ? 0 : 1;

        return x->key[i] < y->key[i] ? -1 : x->key[i] > y->key[i];
}

typedef void (*KeyOf)(gconstpointer key, uint64_t *ret_key);

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

/* The caller's to free; N elements. NULL, and the image is bad, if there is no memory. */
static Pair *sorted(ImageIo *io, GHashTable *table, KeyOf key_of, size_t *ret_n)
{
        Pair *pairs = malloc((g_hash_table_size(table) + 1) * sizeof(*pairs));
        GHashTableIter iter;
        gpointer key, value;
        size_t n = 0;

        *ret_n = 0;
        if (!pairs) {
                image_refuse(io);
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

static void image_module(ImageIo *io, Module *module, bool *is_living)
{
        image_field(io, module->id);
        image_field(io, module->loaded);
        image_field(io, module->unloaded);
        image_bool(io, &module->has_load);
        image_bool(io, is_living);
        image_str(io, &module->path);
}

static void put_module(ImageIo *io, const Process *process, Module *module)
{
        bool is_living = g_hash_table_lookup(process->modules, &module->id) == module;

        image_tell_name(io, module->path);
        image_begin(io, IMAGE_MODULE);
        image_module(io, module, &is_living);
}

static void get_module(ImageIo *io, Process *process)
{
        Module read = {0};
        bool is_living;

        image_module(io, &read, &is_living);
        /* Modules of one id follow each other: the living one is the last. */
        if (io->is_bad || !read.id || g_hash_table_contains(process->modules, &read.id)) {
                strtab_unref(io->names, read.path);
                image_refuse(io);
                return;
        }
        process_restore_module(process, &read, is_living);
}

static void image_jitting(ImageIo *io, int32_t *tid, Jitting *jitting)
{
        image_field(io, *tid);
        image_field(io, jitting->method_id);
        image_field(io, jitting->time);
        image_str(io, &jitting->name_space);
        image_str(io, &jitting->name);
        image_str(io, &jitting->signature);
}

static void put_jittings(ImageIo *io, const Process *process)
{
        size_t n, i;
        Pair *pairs = sorted(io, process->jitting, key_of_tid, &n);

        for (i = 0; i < n; i++) {
                Jitting *jitting = pairs[i].value;
                int32_t tid = (int32_t)pairs[i].key[0];

                image_tell_name(io, jitting->name_space);
                image_tell_name(io, jitting->name);
                image_tell_name(io, jitting->signature);
                image_begin(io, IMAGE_JITTING);
                image_jitting(io, &tid, jitting);
        }
        free(pairs);
}

static void get_jitting(ImageIo *io, Process *process)
{
        Jitting *jitting = g_new0(Jitting, 1);
        int32_t tid;

        image_jitting(io, &tid, jitting);
        process_begin_jitting(process, tid, jitting);
}

static void image_kept_map(ImageIo *io, MethodKey *key, IlMap **map)
{
        image_field(io, key->method_id);
        image_field(io, key->rejit_id);
        image_il_map(io, map);
}

static void put_kept_maps(ImageIo *io, const Process *process)
{
        size_t n, i;
        Pair *pairs = sorted(io, process->rundown_maps, key_of_version, &n);

        for (i = 0; i < n; i++) {
                MethodKey key = {pairs[i].key[0], pairs[i].key[1]};
                IlMap *map = pairs[i].value;

                image_begin(io, IMAGE_KEPT_MAP);
                image_kept_map(io, &key, &map);
        }
        free(pairs);
}

static void get_kept_map(ImageIo *io, Process *process)
{
        MethodKey key;
        IlMap *map;

        image_kept_map(io, &key, &map);
        if (map)
                process_keep_il_map(process, key.method_id, key.rejit_id, map);
        else
                image_refuse(io);
}

static void image_stub(ImageIo *io, Stub *stub)
{
        image_field(io, stub->method_id);
        image_field(io, stub->module_id);
        image_field(io, stub->time);
        image_bool(io, &stub->is_reverse);
        image_stub_target(io, &stub->target);
}

static void put_stubs(ImageIo *io, const Process *process)
{
        size_t n, i;
        Pair *pairs = sorted(io, process->stubs, key_of_method, &n);

        for (i = 0; i < n; i++) {
                Stub *stub = pairs[i].value;

                image_tell_stub_target(io, &stub->target);
                image_begin(io, IMAGE_STUB);
                image_stub(io, stub);
        }
        free(pairs);
}

static void get_stub(ImageIo *io, Process *process)
{
        Stub stub = {0};

        image_stub(io, &stub);
        stub_restore(process, &stub);
}

typedef struct JitCounts {
        uint64_t n_succeeded[_JIT_ATTEMPT_MAX];
        uint64_t n_others[_JIT_ATTEMPT_MAX];
        JitBackground background;
        uint64_t background_begin;
} JitCounts;

static int compare_reasons(const void *a, const void *b, void *names)
{
        const JitReason *x = a, *y = b;

        /* The others are one at most, and left out. */
        if (!x->reason || !y->reason)
                return !x->reason - !y->reason;
        return strcmp(strtab_text(names, x->reason), strtab_text(names, y->reason));
}

static void put_jit_stats(ImageIo *io, const JitStats *stats)
{
        JitCounts counts = {.background = jitstats_background(stats),
                            .background_begin = jitstats_background_begin(stats)};
        uint8_t attempt;

        for (attempt = 0; attempt < _JIT_ATTEMPT_MAX; attempt++) {
                counts.n_succeeded[attempt] = jitstats_n_succeeded(stats, (JitAttempt)attempt);
                counts.n_others[attempt] = jitstats_n_others(stats, (JitAttempt)attempt);
        }
        image_begin(io, IMAGE_JIT_STATS);
        image_field(io, counts);
        for (attempt = 0; attempt < _JIT_ATTEMPT_MAX; attempt++) {
                size_t n, i;
                JitReason *reasons = jitstats_reasons(stats, (JitAttempt)attempt, &n);

                qsort_r(reasons, n, sizeof(*reasons), compare_reasons, io->names);
                for (i = 0; i < n; i++) {
                        if (!reasons[i].reason) /* the others */
                                continue;
                        image_tell_name(io, reasons[i].reason);
                        image_begin(io, IMAGE_JIT_REASON);
                        image_field(io, attempt);
                        image_field(io, reasons[i].count);
                        image_str(io, &reasons[i].reason);
                }
                g_free(reasons);
        }
}

static void get_jit_stats(ImageIo *io, Process *process)
{
        JitCounts counts;

        image_field(io, counts);
        if (process->jit_stats) {
                image_refuse(io);
                return;
        }
        process->jit_stats = jitstats_new(process->names, process->account);
        jitstats_restore(process->jit_stats, counts.n_succeeded, counts.n_others,
                         &counts.background, counts.background_begin);
}

static void get_jit_reason(ImageIo *io, Process *process)
{
        uint8_t attempt;
        uint64_t count;
        Str reason;

        image_field(io, attempt);
        image_field(io, count);
        image_str(io, &reason);
        if (io->is_bad || !process->jit_stats || attempt >= _JIT_ATTEMPT_MAX) {
                strtab_unref(io->names, reason);
                image_refuse(io);
        } else if (!jitstats_restore_reason(process->jit_stats, (JitAttempt)attempt, reason,
                                            count)) {
                image_refuse(io);
        }
}

void image_put_process(ImageIo *io, Process *process)
{
        guint i;

        for (i = 0; i < process->all_modules->len; i++)
                put_module(io, process, process->all_modules->pdata[i]);
        for (i = 0; i < process->rundowns->len; i++) {
                image_begin(io, IMAGE_RUNDOWN);
                image_field(io, g_array_index(process->rundowns, Rundown, i));
        }
        image_put_lapses(io, &process->lapses);
        put_jittings(io, process);
        put_kept_maps(io, process);
        put_stubs(io, process);
        if (process->jit_stats)
                put_jit_stats(io, process->jit_stats);
        image_put_code_map(io, process->map);
}

static void get_rundown(ImageIo *io, Process *process)
{
        Rundown rundown;

        image_field(io, rundown);
        g_array_append_val(process->rundowns, rundown);
}

static void get_lapses(ImageIo *io, Process *process)
{
        image_get_lapses(io, &process->lapses);
}

static void get_lapse(ImageIo *io, Process *process)
{
        image_get_lapse(io, &process->lapses, false);
}

static void get_told_lapse(ImageIo *io, Process *process)
{
        image_get_lapse(io, &process->lapses, true);
}

static void get_stranger(ImageIo *io, Process *process)
{
        image_get_stranger(io, &process->lapses);
}

static void (*const GETTERS[_IMAGE_TAG_MAX])(ImageIo *, Process *) = {
        [IMAGE_MODULE] = get_module,       [IMAGE_RUNDOWN] = get_rundown,
        [IMAGE_JITTING] = get_jitting,     [IMAGE_KEPT_MAP] = get_kept_map,
        [IMAGE_JIT_STATS] = get_jit_stats, [IMAGE_JIT_REASON] = get_jit_reason,
        [IMAGE_LAPSES] = get_lapses,       [IMAGE_LAPSE] = get_lapse,
        [IMAGE_STRANGER] = get_stranger,   [IMAGE_TOLD_LAPSE] = get_told_lapse,
        [IMAGE_STUB] = get_stub,
};

void image_get_process(ImageIo *io, ImageTag tag, Process *process)
{
        if (GETTERS[tag])
                GETTERS[tag](io, process);
        else
                image_get_code_map(io, tag, process->map, process->all_modules->len);
}
