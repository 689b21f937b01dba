/* SPDX-License-Identifier: MIT */
#include "core/stub.h"

#include <string.h>

/* With its place in the table. */
#define STUB_SIZE (sizeof(Stub) + 48)
/* At a time. Mostly there is one for each thread: stubs are compiled as soon as they are made. */
enum { MAX_STUBS = 1024 };

/* Of StubFlags. */
enum {
        STUB_REVERSE = 0x1, /* native code calls managed code */
        STUB_COM = 0x2,
        STUB_STRUCT = 0x40, /* copies a structure's fields: for no method */
};

static void release(Process *process, const StubTarget *target)
{
        strtab_unref(process->names, target->name_space);
        strtab_unref(process->names, target->name);
        strtab_unref(process->names, target->signature);
}

static void stub_free(Process *process, Stub *stub)
{
        release(process, &stub->target);
        account_remove(process->account, STUB_SIZE);
        g_free(stub);
}

static Stub *find(const Process *process, uint64_t method_id)
{
        return g_hash_table_lookup(process->stubs, &method_id);
}

static void drop(Process *process, Stub *stub)
{
        g_hash_table_remove(process->stubs, &stub->method_id);
        stub_free(process, stub);
}

void stub_restore(Process *process, const Stub *stub)
{
        Stub *earlier = find(process, stub->method_id), *kept;

        if (earlier)
                drop(process, earlier);
        if (g_hash_table_size(process->stubs) >= MAX_STUBS)
                stub_drop_all(process);
        kept = g_memdup2(stub, sizeof(*stub));
        account_add(process->account, STUB_SIZE);
        g_hash_table_insert(process->stubs, &kept->method_id, kept);
}

static Str intern(Process *process, const Record *record, FieldName name)
{
        const Value *value = record_value(record, name);

        return value && value->n ? strtab_add(process->names, (const char *)value->data, value->n)
                                 : 0;
}

void stub_keep(Process *process, const Record *record)
{
        uint64_t flags = record_u64(record, FIELD_StubFlags);
        Stub stub = {
                .method_id = record_u64(record, FIELD_StubMethodID),
                .module_id = record_u64(record, FIELD_ModuleID),
                .time = record->time,
                .is_reverse = flags & STUB_REVERSE,
        };

        stub_drop(process, stub.method_id, record->time);
        /* What comes late can have been unloaded, and its id given again, in what came before. */
        if (record->time < process->last || flags & (STUB_COM | STUB_STRUCT))
                return;
        stub.target = (StubTarget){intern(process, record, FIELD_ManagedInteropMethodNamespace),
                                   intern(process, record, FIELD_ManagedInteropMethodName),
                                   intern(process, record, FIELD_ManagedInteropMethodSignature)};
        if (stub.target.name)
                stub_restore(process, &stub);
        else
                release(process, &stub.target);
}

static bool is_called(const Process *process, Str str, const char *name)
{
        const char *text = strtab_text(process->names, str);

        return text && !strcmp(text, name);
}

/* True if the body that RECORD has loaded is the stub. */
static bool is_body_of(const Process *process, const Stub *stub, const Body *body,
                       const Record *record)
{
        return body->method_id == stub->method_id && !body->is_stub &&
               record_u64(record, FIELD_ModuleID) == stub->module_id &&
               is_called(process, body->name_space, "dynamicClass") &&
               is_called(process, body->name,
                         stub->is_reverse ? "IL_STUB_ReversePInvoke" : "IL_STUB_PInvoke") &&
               !process_has_gap(process, stub->time, record->time);
}

bool stub_load(Process *process, const Record *record)
{
        Stub *stub = find(process, record_u64(record, FIELD_MethodID));
        Body *body;
        bool is_news;

        if (!stub || stub->time > record->time)
                return false;
        body = codemap_at(process->map, record_u64(record, FIELD_MethodStartAddress), record->time);
        is_news = body && is_body_of(process, stub, body, record);
        if (is_news) {
                codemap_set_stub_target(process->map, body, &stub->target);
                stub->target = (StubTarget){0};
        }
        drop(process, stub);
        return is_news;
}

void stub_drop(Process *process, uint64_t method_id, uint64_t time)
{
        Stub *stub = find(process, method_id);

        if (stub && stub->time <= time)
                drop(process, stub);
}

void stub_drop_module(Process *process, uint64_t module_id, uint64_t time)
{
        GHashTableIter iter;
        gpointer value;

        g_hash_table_iter_init(&iter, process->stubs);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                Stub *stub = value;

                if (stub->module_id != module_id || stub->time > time)
                        continue;
                g_hash_table_iter_remove(&iter);
                stub_free(process, stub);
        }
}

void stub_drop_all(Process *process)
{
        GHashTableIter iter;
        gpointer value;

        g_hash_table_iter_init(&iter, process->stubs);
        while (g_hash_table_iter_next(&iter, NULL, &value))
                stub_free(process, value);
        g_hash_table_remove_all(process->stubs);
}
