/* SPDX-License-Identifier: MIT */
#include "core/process.h"

static void module_destroy(gpointer data)
{
        Module *module = data;

        g_free(module->path);
        g_free(module);
}

static void jitting_free(Process *process, Jitting *jitting)
{
        strtab_unref(process->names, jitting->name_space);
        strtab_unref(process->names, jitting->name);
        strtab_unref(process->names, jitting->signature);
        g_free(jitting);
}

static void ilmap_destroy(gpointer data)
{
        ilmap_free(data);
}

static guint key_hash(gconstpointer data)
{
        const MethodKey *key = data;

        return g_int64_hash(&key->method_id) ^ (guint)key->rejit_id;
}

static gboolean key_equal(gconstpointer a, gconstpointer b)
{
        const MethodKey *x = a, *y = b;

        return x->method_id == y->method_id && x->rejit_id == y->rejit_id;
}

Process *process_new(Strtab *names, ProcessKey key, unsigned generation, uint64_t begin)
{
        Process *process = g_new0(Process, 1);

        process->names = names;
        process->key = key;
        process->generation = generation;
        process->begin = begin;
        process->last = begin;
        process->exit = BODY_FOREVER;
        process->map = codemap_new(names);
        process->all_modules = g_ptr_array_new_with_free_func(module_destroy);
        process->modules = g_hash_table_new(g_int64_hash, g_int64_equal);
        process->jitting = g_hash_table_new(g_direct_hash, g_direct_equal);
        process->rundown_maps = g_hash_table_new_full(key_hash, key_equal, g_free, ilmap_destroy);
        process->rundowns = g_array_new(FALSE, FALSE, sizeof(Rundown));
        process->traces = g_ptr_array_new();
        return process;
}

void process_free(Process *process)
{
        GHashTableIter iter;
        gpointer jitting;

        if (!process)
                return;
        g_hash_table_iter_init(&iter, process->jitting);
        while (g_hash_table_iter_next(&iter, NULL, &jitting))
                jitting_free(process, jitting);
        g_hash_table_unref(process->modules);
        g_hash_table_unref(process->jitting);
        g_hash_table_unref(process->rundown_maps);
        codemap_free(process->map);
        g_ptr_array_unref(process->all_modules);
        g_array_unref(process->rundowns);
        g_ptr_array_unref(process->traces);
        g_free(process->runtime_version);
        g_free(process->runtime_path);
        g_free(process->command);
        g_free(process);
}

Module *process_module(Process *process, uint64_t id, uint64_t time)
{
        Module *module;

        if (!id)
                return NULL;
        module = g_hash_table_lookup(process->modules, &id);
        if (module)
                return module;
        module = g_new0(Module, 1);
        module->id = id;
        module->loaded = time;
        module->unloaded = BODY_FOREVER;
        module->newest = BODY_NONE;
        g_ptr_array_add(process->all_modules, module);
        module->number = process->all_modules->len;
        g_hash_table_insert(process->modules, &module->id, module);
        return module;
}

void process_end_module(Process *process, Module *module, uint64_t time)
{
        uint32_t number = module->newest;

        while (number != BODY_NONE) {
                Body *body = codemap_body(process->map, number);

                if (body->until == BODY_FOREVER)
                        codemap_end(process->map, body, time, BODY_END_MODULE);
                number = body->next;
        }
        module->unloaded = time;
        g_hash_table_remove(process->modules, &module->id);
}

const Module *process_body_module(const Process *process, const Body *body)
{
        return body->module ? process->all_modules->pdata[body->module - 1] : NULL;
}

void process_set_module(Process *process, Body *body, uint64_t module_id, uint64_t time)
{
        Module *module = process_module(process, module_id, time);

        if (!module)
                return;
        body->module = module->number;
        body->next = module->newest;
        module->newest = body->number;
}

void process_begin_jitting(Process *process, int32_t tid, Jitting *jitting)
{
        Jitting *earlier = g_hash_table_lookup(process->jitting, GINT_TO_POINTER(tid));

        if (earlier)
                jitting_free(process, earlier);
        g_hash_table_insert(process->jitting, GINT_TO_POINTER(tid), jitting);
}

const Jitting *process_jitting(const Process *process, int32_t tid, uint64_t method_id)
{
        const Jitting *jitting = g_hash_table_lookup(process->jitting, GINT_TO_POINTER(tid));

        return jitting && jitting->method_id == method_id ? jitting : NULL;
}

uint64_t process_horizon(const Process *process)
{
        uint64_t horizon = UINT64_MAX;
        guint i;

        for (i = 0; i < process->traces->len; i++)
                horizon = MIN(horizon, trace_horizon(process->traces->pdata[i]));
        return process->traces->len ? horizon : 0;
}

bool process_has_gap(const Process *process, uint64_t begin, uint64_t end)
{
        guint i;

        for (i = 0; i < process->traces->len; i++)
                if (trace_has_gap(process->traces->pdata[i], begin, end))
                        return true;
        return false;
}

bool process_is_before(const Process *process, uint64_t time)
{
        return !process->is_from_start && time < process->begin;
}
