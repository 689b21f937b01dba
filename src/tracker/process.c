/* SPDX-License-Identifier: MIT */
#include "tracker/process.h"

#include "util/guid-text.h"
#include "util/hash.h"

#include <string.h>

/* Bytes of an entry of a hash table, with the free entries next to it. */
#define TABLE_ENTRY 48

static void jitting_release_names(Process *process, const Jitting *jitting)
{
        strtab_unref(process->names, jitting->name_space);
        strtab_unref(process->names, jitting->name);
        strtab_unref(process->names, jitting->signature);
}

static void jitting_free(Process *process, Jitting *jitting)
{
        jitting_release_names(process, jitting);
        account_remove(process->account, sizeof(*jitting) + TABLE_ENTRY);
        g_free(jitting);
}

static void ilmap_destroy(gpointer data)
{
        ilmap_free(data);
}

static guint method_key_hash(gconstpointer data)
{
        const MethodKey *key = data;

        return (guint)(hash_u64(hash_u64(key->method_id) ^ key->rejit_id) >> 32);
}

static gboolean method_key_equal(gconstpointer a, gconstpointer b)
{
        const MethodKey *x = a, *y = b;

        return x->method_id == y->method_id && x->rejit_id == y->rejit_id;
}

/* Bytes: the process, its empty code map and tables. */
#define PROCESS_SIZE (sizeof(Process) + 2048)

Process *process_new(Strtab *names, Account *account, ProcessKey key, unsigned generation,
                     uint64_t begin)
{
        Process *process = g_new0(Process, 1);

        process->names = names;
        process->account = account;
        process->refused_since = BODY_FOREVER;
        account_add(account, PROCESS_SIZE);
        process->key = key;
        process->uid = PROCESS_OF_NOBODY;
        process->generation = generation;
        process->begin = begin;
        process->last = begin;
        process->exit = BODY_FOREVER;
        process->edited = BODY_FOREVER;
        process->map = codemap_new(names, account);
        process->all_modules = g_ptr_array_new_with_free_func(g_free);
        process->modules = g_hash_table_new(hash_u64_key, g_int64_equal);
        assembly_table_init(&process->assemblies, names, account);
        process->jitting = g_hash_table_new(hash_number_key, g_direct_equal);
        stub_table_init(&process->stubs, names, account);
        detail_table_init(&process->details, names, account);
        process->rundown_maps =
                g_hash_table_new_full(method_key_hash, method_key_equal, g_free, ilmap_destroy);
        process->rundowns = g_array_new(FALSE, FALSE, sizeof(Rundown));
        process_gaps_init(&process->gaps, account);
        process->traces = g_ptr_array_new();
        return process;
}

static size_t process_text_size(const Process *process)
{
        const char *const texts[] = {process->runtime_version, process->runtime_path,
                                     process->command, process->program};
        size_t size = 0, i;

        for (i = 0; i < G_N_ELEMENTS(texts); i++)
                size += texts[i] ? account_size(strlen(texts[i]) + 1) : 0;
        return size;
}

const char *process_command(const Process *process)
{
        return process->command ? process->command : process->program;
}

void process_book_texts(Process *process)
{
        account_remove_exact(process->account, process->text_size);
        process->text_size = process_text_size(process);
        account_add_exact(process->account, process->text_size);
}

void process_add_trace(Process *process, Trace *trace)
{
        /* A process usually has one trace. */
        if ((process->traces->len && process->traces->pdata[0] == trace) ||
            g_ptr_array_find(process->traces, trace, NULL))
                return;
        g_ptr_array_add(process->traces, trace);
        trace->n_processes++;
}

void process_restore_head(Process *process, const Process *head)
{
        process->serial = head->serial;
        process->uid = head->uid;
        process->is_from_start = head->is_from_start;
        process->was_found = head->was_found;
        process->has_tiering = head->has_tiering;
        process->tiering = head->tiering;
        process->last = head->last;
        process->exit = head->exit;
        process->account->may_evict = true;
        process->rundown_begin = head->rundown_begin;
        process->rundown_has_modules = head->rundown_has_modules;
        process->rundown_has_jitted = head->rundown_has_jitted;
        process->edited = head->edited;
        process->refused_since = head->refused_since;
        process->runtime_version = head->runtime_version;
        process->runtime_path = head->runtime_path;
        process->command = head->command;
        process->program = head->program;
        process_book_texts(process);
}

static void module_release(Process *process, const Module *module)
{
        strtab_unref(process->names, module->path);
        strtab_unref(process->names, module->native_path);
        strtab_unref(process->names, module->pdb_path);
        account_remove(process->account, sizeof(*module) + TABLE_ENTRY);
}

void process_free(Process *process)
{
        GHashTableIter iter;
        gpointer jitting;
        guint i;

        if (!process)
                return;
        g_hash_table_iter_init(&iter, process->jitting);
        while (g_hash_table_iter_next(&iter, NULL, &jitting))
                jitting_free(process, jitting);
        for (i = 0; i < process->all_modules->len; i++)
                module_release(process, process->all_modules->pdata[i]);
        for (i = 0; i < process->traces->len; i++)
                ((Trace *)process->traces->pdata[i])->n_processes--;
        account_remove(process->account, PROCESS_SIZE);
        account_remove_exact(process->account, process->text_size);
        process_drop_il_maps(process);
        stub_table_deinit(&process->stubs);
        detail_table_deinit(&process->details);
        assembly_table_deinit(&process->assemblies);
        g_hash_table_unref(process->modules);
        g_hash_table_unref(process->jitting);
        g_hash_table_unref(process->rundown_maps);
        jitstats_free(process->jit_stats);
        codemap_free(process->map);
        g_ptr_array_unref(process->all_modules);
        g_array_unref(process->rundowns);
        process_gaps_deinit(&process->gaps);
        g_ptr_array_unref(process->traces);
        g_free(process->runtime_version);
        g_free(process->runtime_path);
        g_free(process->command);
        g_free(process->program);
        g_free(process);
}

static Module *process_add_module(Process *process, const Module *template)
{
        Module *module = g_memdup2(template, sizeof(*template));

        g_ptr_array_add(process->all_modules, module);
        module->number = process->all_modules->len;
        account_add(process->account, sizeof(Module) + TABLE_ENTRY);
        g_hash_table_replace(process->modules, &module->id, module);
        return module;
}

bool module_is_living(const Module *module)
{
        return module->unloaded == BODY_FOREVER;
}

static Module *process_newest_module(const Process *process, uint64_t id)
{
        return g_hash_table_lookup(process->modules, &id);
}

Module *process_living_module(Process *process, uint64_t id, uint64_t time)
{
        const Module template = {.id = id, .loaded = time, .unloaded = BODY_FOREVER};
        Module *module = process_newest_module(process, id);

        if (!id)
                return NULL;
        return module && module_is_living(module) ? module : process_add_module(process, &template);
}

/* The module with that id, or NULL: it is not known. */
static Module *process_find_module(const Process *process, uint64_t id)
{
        Module *module = process_newest_module(process, id);

        return module && (module_is_living(module) || process_is_in_last_rundown(process)) ? module
                                                                                           : NULL;
}

Module *process_module(Process *process, uint64_t id, uint64_t time)
{
        Module *module = process_find_module(process, id);

        return module ? module : process_living_module(process, id, time);
}

bool process_restore_module(Process *process, const Module *module)
{
        const Module *earlier = process_newest_module(process, module->id);

        if (!module->id || (earlier && module_is_living(earlier)))
                return false;
        process_add_module(process, module);
        return true;
}

void process_set_module_path(Process *process, Module *module, Str path)
{
        strtab_unref(process->names, module->path);
        module->path = path;
}

const Assembly *process_module_assembly(const Process *process, const Module *module)
{
        return assembly_table_get(&process->assemblies, module->assembly);
}

void process_end_module(Process *process, Module *module, uint64_t time)
{
        codemap_end_module(process->map, module->number, time);
        stub_table_drop_module(&process->stubs, module->id, time);
        if (module->loaded > time || !module_is_living(module))
                return;
        module->unloaded = time;
        if (codemap_has_module(process->map, module->number))
                codemap_move_module(process->map, module->number,
                                    process_living_module(process, module->id, time)->number);
}

const Module *process_body_module(const Process *process, const Body *body)
{
        return body->module ? process->all_modules->pdata[body->module - 1] : NULL;
}

void process_set_module(Process *process, Body *body, uint64_t module_id, uint64_t time)
{
        Module *module = process_module(process, module_id, time);

        if (module)
                codemap_set_module(process->map, body, module->number);
}

static size_t process_kept_size(const IlMap *map)
{
        return ilmap_size(map) + sizeof(MethodKey) + TABLE_ENTRY;
}

void process_keep_il_map(Process *process, uint64_t method_id, uint64_t rejit_id, IlMap *map)
{
        const MethodKey key = {method_id, rejit_id};

        ilmap_free(process_take_il_map(process, method_id, rejit_id));
        account_add(process->account, process_kept_size(map));
        g_hash_table_insert(process->rundown_maps, g_memdup2(&key, sizeof(key)), map);
}

IlMap *process_take_il_map(Process *process, uint64_t method_id, uint64_t rejit_id)
{
        const MethodKey key = {method_id, rejit_id};
        gpointer stolen_key, map;

        if (!g_hash_table_steal_extended(process->rundown_maps, &key, &stolen_key, &map))
                return NULL;
        g_free(stolen_key);
        account_remove(process->account, process_kept_size(map));
        return map;
}

void process_drop_il_maps(Process *process)
{
        GHashTableIter iter;
        gpointer map;

        g_hash_table_iter_init(&iter, process->rundown_maps);
        while (g_hash_table_iter_next(&iter, NULL, &map))
                account_remove(process->account, process_kept_size(map));
        g_hash_table_remove_all(process->rundown_maps);
}

Jitting *process_jitting(const Process *process, int32_t tid)
{
        return g_hash_table_lookup(process->jitting, GINT_TO_POINTER(tid));
}

void process_begin_jitting(Process *process, int32_t tid, const Jitting *jitting)
{
        Jitting *earlier = process_jitting(process, tid);

        if (earlier) {
                const Jitting before = *earlier;

                *earlier = *jitting;
                jitting_release_names(process, &before);
                return;
        }
        account_add(process->account, sizeof(*jitting) + TABLE_ENTRY);
        g_hash_table_insert(process->jitting, GINT_TO_POINTER(tid),
                            g_memdup2(jitting, sizeof(*jitting)));
}

void process_add_rundown(Process *process, const Rundown *rundown)
{
        GArray *rundowns = process->rundowns;
        guint n = 0, i;

        if (rundowns->len >= PROCESS_MAX_RUNDOWNS) {
                for (i = 0; i < rundowns->len; i++)
                        if (i % 2 == 0 || i + 1 == rundowns->len)
                                g_array_index(rundowns, Rundown, n++) =
                                        g_array_index(rundowns, Rundown, i);
                g_array_set_size(rundowns, n);
        }
        g_array_append_val(rundowns, *rundown);
}

/* "GUID@PATH" */
static bool process_append_module(GString *out, uint64_t module_id, const void *data)
{
        static const uint8_t NONE[GUID_SIZE];
        const Process *process = data;
        const Module *module = process_find_module(process, module_id);
        const char *at = module ? strtab_text(process->names, module->path) : NULL;
        char guid[GUID_TEXT_SIZE] = "-";

        if (!at || !*at)
                return false;
        if (memcmp(module->pdb_guid, NONE, GUID_SIZE) != 0)
                guid_to_text(module->pdb_guid, guid);
        g_string_append(out, guid);
        g_string_append_c(out, '@');
        for (; *at; at++) {
                if (strchr(DETAILS_ESCAPED, *at))
                        g_string_append_c(out, '\\');
                g_string_append_c(out, *at);
        }
        return true;
}

void process_take_method_details(Process *process, const Record *record)
{
        uint64_t method_id, rejit_id;
        Str name = detail_table_inlined(&process->details, record, process_append_module, process,
                                        &method_id, &rejit_id);
        const Body *body =
                name ? codemap_method(process->map, method_id, (uint32_t)rejit_id) : NULL;
        Inlining *inlining = body ? codemap_inlining(process->map, body) : NULL;

        if (inlining)
                inlining_name_method(inlining, process->names, record_u64(record, FIELD_MethodID),
                                     name);
        strtab_unref(process->names, name);
        detail_table_take_method(&process->details, record, process_append_module, process);
}

/*
 * Names a method that is inlined into itself: no details follow the tree, because the method's own
 * came before its load. The arguments of a generic type are not known here.
 */
static void process_name_recursion(const Process *process, const Body *body, Inlining *inlining)
{
        const Module *module = process_body_module(process, body);
        const char *type = strtab_text(process->names, body->name_space);
        Str args = codemap_type_args(process->map, body), name;
        g_autoptr(GString) text = NULL;

        if (!module || !body->token || !type || strchr(type, '['))
                return;
        text = g_string_new(NULL);
        g_string_append_printf(text, "%08x@", body->token);
        if (!process_append_module(text, module->id, process))
                return;
        if (args)
                g_string_append_printf(text, "[][%s]", strtab_text(process->names, args));
        name = strtab_add_for(process->names, process->account, text->str, text->len);
        inlining_name_method(inlining, process->names, body->method_id, name);
        strtab_unref(process->names, name);
}

void process_take_inline_tree(Process *process, const Record *record)
{
        uint64_t rejit_id = record_u64(record, FIELD_ReJITID);
        g_autofree uint8_t *block = NULL;
        size_t n;
        InlineTree *tree;
        Body *body;

        block = detail_table_take_tree(&process->details, record, &n);
        body = block && rejit_id <= UINT32_MAX
                       ? codemap_method(process->map, record_u64(record, FIELD_MethodID),
                                        (uint32_t)rejit_id)
                       : NULL;
        if (!body || body->since > record->time || codemap_inlining(process->map, body))
                return;
        tree = inline_tree_new(block, n);
        if (!tree || inline_tree_n_nodes(tree) == 1) {
                inline_tree_free(tree); /* damaged, or nothing is inlined */
                return;
        }
        codemap_set_inlining(process->map, body, inlining_new(tree));
        process_name_recursion(process, body, codemap_inlining(process->map, body));
}

/* The body of a load or of R2RGetEntryPoint, or NULL. */
static Body *process_loaded_body(const Process *process, const Record *record)
{
        FieldName field = record->event->kind == EVENT_KIND_R2R_ENTRY ? FIELD_EntryPoint
                                                                      : FIELD_MethodStartAddress;

        return codemap_at(process->map, record_u64(record, field), record->time);
}

static bool process_load_stub(Process *process, const Record *record)
{
        const Stub *stub = stub_table_find(&process->stubs, record);
        StubTarget target;
        Body *body;

        if (!stub)
                return false;
        body = process_loaded_body(process, record);
        if (!body || codemap_stub_target(process->map, body) ||
            !stub_is_of(&process->stubs, stub, body, record) ||
            process_has_gap(process, stub->time, record->time)) {
                stub_table_remove(&process->stubs, stub);
                return false;
        }
        target = stub_table_take(&process->stubs, stub);
        codemap_set_stub_target(process->map, body, &target);
        return true;
}

static bool process_load_type_args(Process *process, const Record *record)
{
        uint64_t since;
        Str type_args = detail_table_type_args(&process->details, record, &since);
        Body *body;

        if (!type_args)
                return false;
        body = process_loaded_body(process, record);
        if (!body || body->method_id != record_u64(record, FIELD_MethodID) ||
            codemap_type_args(process->map, body) ||
            process_has_gap(process, since, record->time)) {
                strtab_unref(process->names, type_args);
                return false;
        }
        codemap_set_type_args(process->map, body, type_args);
        return true;
}

bool process_load_detail(Process *process, const Record *record)
{
        return process_load_stub(process, record) || process_load_type_args(process, record);
}

void process_end(Process *process, uint64_t time)
{
        process->exit = time;
        process->account->may_evict = true;
        codemap_change_epoch(process->map); /* answers about later times change */
}

/* The runtime's other threads may load some bodies after its exit unload. */
uint64_t process_body_end(const Process *process, const Body *body)
{
        return MIN(body->until, MAX(process->exit, body->since));
}

bool process_is_in_last_rundown(const Process *process)
{
        return process->exit <= process->rundown_begin;
}

bool process_is_over_at(const Process *process, uint64_t time)
{
        return process->exit != BODY_FOREVER && time > process->exit &&
               time - process->exit > PROCESS_EXIT_GRACE;
}

/* A trace that has ended does not hold back the others. */
uint64_t process_horizon(const Process *process)
{
        uint64_t open = UINT64_MAX, ended = 0;
        guint i;

        for (i = 0; i < process->traces->len; i++) {
                bool has_ended;
                uint64_t horizon = trace_horizon(process->traces->pdata[i], &has_ended);

                if (has_ended)
                        ended = MAX(ended, horizon);
                else
                        open = MIN(open, horizon);
        }
        return open == UINT64_MAX ? ended : open;
}

bool process_has_open_trace(const Process *process)
{
        bool has_ended = true;
        guint i;

        for (i = 0; has_ended && i < process->traces->len; i++)
                trace_horizon(process->traces->pdata[i], &has_ended);
        return !has_ended;
}

bool process_is_open(const Process *process)
{
        return process->exit == BODY_FOREVER && process_has_open_trace(process);
}

bool process_is_closed(const Process *process)
{
        return process->exit != BODY_FOREVER && !process_has_open_trace(process);
}

bool process_has_gap(const Process *process, uint64_t begin, uint64_t end)
{
        guint i;

        if (end >= process->refused_since || process_gaps_touch(&process->gaps, begin, end))
                return true;
        for (i = 0; i < process->traces->len; i++)
                if (trace_has_gap(process->traces->pdata[i], begin, end))
                        return true;
        return false;
}

bool process_is_before(const Process *process, uint64_t time)
{
        return !process->is_from_start && time < process->begin;
}
