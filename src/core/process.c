/* SPDX-License-Identifier: MIT */
#include "core/process.h"

static void module_destroy(gpointer data)
{
        Module *module = data;

        g_free(module->path);
        g_ptr_array_unref(module->bodies);
        g_free(module);
}

static void jitting_destroy(gpointer data)
{
        Jitting *jitting = data;

        g_clear_pointer(&jitting->name_space, g_ref_string_release);
        g_clear_pointer(&jitting->name, g_ref_string_release);
        g_clear_pointer(&jitting->signature, g_ref_string_release);
        g_free(jitting);
}

static void ilmap_destroy(gpointer data)
{
        ilmap_free(data);
}

static guint ids_hash(uint64_t method_id, uint64_t rejit_id)
{
        return (guint)(((method_id ^ (rejit_id << 48)) * UINT64_C(0x9e3779b97f4a7c15)) >> 32) ^
               (guint)rejit_id;
}

static guint body_hash(gconstpointer data)
{
        const Body *body = data;

        return ids_hash(body->method_id, body->rejit_id);
}

static gboolean body_equal(gconstpointer a, gconstpointer b)
{
        const Body *x = a, *y = b;

        return x->method_id == y->method_id && x->rejit_id == y->rejit_id;
}

static guint key_hash(gconstpointer data)
{
        const MethodKey *key = data;

        return ids_hash(key->method_id, key->rejit_id);
}

static gboolean key_equal(gconstpointer a, gconstpointer b)
{
        const MethodKey *x = a, *y = b;

        return x->method_id == y->method_id && x->rejit_id == y->rejit_id;
}

Process *process_new(ProcessKey key, unsigned generation, uint64_t begin)
{
        Process *process = g_new0(Process, 1);

        process->key = key;
        process->generation = generation;
        process->begin = begin;
        process->last = begin;
        process->exit = CODEMAP_FOREVER;
        process->map = codemap_new();
        process->all_modules = g_ptr_array_new_with_free_func(module_destroy);
        process->modules = g_hash_table_new(g_int64_hash, g_int64_equal);
        process->methods = g_hash_table_new(body_hash, body_equal);
        process->jitting =
                g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, jitting_destroy);
        process->rundown_maps = g_hash_table_new_full(key_hash, key_equal, g_free, ilmap_destroy);
        process->rundowns = g_array_new(FALSE, FALSE, sizeof(Rundown));
        process->traces = g_ptr_array_new();
        return process;
}

void process_free(Process *process)
{
        if (!process)
                return;
        g_hash_table_unref(process->methods);
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
        module->unloaded = CODEMAP_FOREVER;
        module->bodies = g_ptr_array_new();
        g_ptr_array_add(process->all_modules, module);
        g_hash_table_insert(process->modules, &module->id, module);
        return module;
}

void process_end_module(Process *process, Module *module, uint64_t time)
{
        guint i;

        for (i = 0; i < module->bodies->len; i++) {
                Body *body = module->bodies->pdata[i];

                if (body->until == CODEMAP_FOREVER)
                        process_end_body(process, body, time, BODY_END_MODULE);
        }
        module->unloaded = time;
        g_hash_table_remove(process->modules, &module->id);
}

Body *process_method(const Process *process, uint64_t method_id, uint64_t rejit_id)
{
        const Body key = {.method_id = method_id, .rejit_id = rejit_id};
        Body *body = g_hash_table_lookup(process->methods, &key);

        return body && body->until == CODEMAP_FOREVER ? body : NULL;
}

Body *process_insert(Process *process, Body *template, uint64_t module_id, uint64_t time)
{
        Body *body;

        template->module = process_module(process, module_id, time);
        body = codemap_insert(process->map, template, time);
        if (!body)
                return NULL;
        if (body->module)
                g_ptr_array_add(body->module->bodies, body);
        if (body->until == CODEMAP_FOREVER)
                g_hash_table_add(process->methods, body);
        return body;
}

void process_end_body(Process *process, Body *body, uint64_t time, BodyEnd end)
{
        codemap_end(process->map, body, time, end);
        if (g_hash_table_lookup(process->methods, body) == body)
                g_hash_table_remove(process->methods, body);
}

void process_begin_jitting(Process *process, int32_t tid, Jitting *jitting)
{
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
