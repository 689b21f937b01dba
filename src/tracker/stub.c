/* SPDX-License-Identifier: MIT */
#include "tracker/stub.h"

#include "util/hash.h"

#include <string.h>

/* Bytes, with the entry in the table. */
#define STUB_SIZE (sizeof(Stub) + 48)
/*
 * Stubs kept at a time. There is usually one for each thread: a stub is compiled as soon as it is
 * made.
 */
enum { MAX_STUBS = 1024 };

/* Bits of StubFlags. */
enum {
        STUB_REVERSE = 0x1, /* native code calls managed code */
        STUB_COM = 0x2,
        STUB_STRUCT = 0x40, /* copies a structure's fields; made for no method */
};

void stub_table_init(StubTable *stubs, Strtab *names, Account *account)
{
        *stubs = (StubTable){
                .names = names,
                .account = account,
                .table = g_hash_table_new(hash_u64_key, g_int64_equal),
        };
}

static void stub_table_release(StubTable *stubs, const StubTarget *target)
{
        strtab_unref(stubs->names, target->name_space);
        strtab_unref(stubs->names, target->name);
        strtab_unref(stubs->names, target->signature);
}

static void stub_free(StubTable *stubs, Stub *stub)
{
        stub_table_release(stubs, &stub->target);
        account_remove(stubs->account, STUB_SIZE);
        g_free(stub);
}

static void stub_table_clear(StubTable *stubs)
{
        GHashTableIter iter;
        gpointer value;

        g_hash_table_iter_init(&iter, stubs->table);
        while (g_hash_table_iter_next(&iter, NULL, &value))
                stub_free(stubs, value);
        g_hash_table_remove_all(stubs->table);
}

void stub_table_deinit(StubTable *stubs)
{
        stub_table_clear(stubs);
        g_clear_pointer(&stubs->table, g_hash_table_unref);
}

static Stub *stub_table_get(const StubTable *stubs, uint64_t method_id)
{
        return g_hash_table_lookup(stubs->table, &method_id);
}

void stub_table_remove(StubTable *stubs, const Stub *stub)
{
        Stub *kept = stub_table_get(stubs, stub->method_id);

        g_hash_table_remove(stubs->table, &kept->method_id);
        stub_free(stubs, kept);
}

StubTarget stub_table_take(StubTable *stubs, const Stub *stub)
{
        Stub *kept = stub_table_get(stubs, stub->method_id);
        StubTarget target = kept->target;

        kept->target = (StubTarget){0};
        stub_table_remove(stubs, kept);
        return target;
}

void stub_table_restore(StubTable *stubs, const Stub *stub)
{
        Stub *kept = stub_table_get(stubs, stub->method_id);

        if (kept)
                stub_table_remove(stubs, kept);
        if (g_hash_table_size(stubs->table) >= MAX_STUBS)
                stub_table_clear(stubs);
        kept = g_memdup2(stub, sizeof(*stub));
        account_add(stubs->account, STUB_SIZE);
        g_hash_table_insert(stubs->table, &kept->method_id, kept);
}

static Str stub_table_intern(StubTable *stubs, const Record *record, FieldName name)
{
        const Value *value = record_value(record, name);

        return value && value->n ? strtab_add_for(stubs->names, stubs->account,
                                                  (const char *)value->data, value->n)
                                 : 0;
}

void stub_table_keep(StubTable *stubs, const Record *record, uint64_t last)
{
        uint64_t flags = record_u64(record, FIELD_StubFlags);
        Stub stub = {
                .method_id = record_u64(record, FIELD_StubMethodID),
                .module_id = record_u64(record, FIELD_ModuleID),
                .time = record->time,
                .is_reverse = flags & STUB_REVERSE,
        };

        stub_table_drop(stubs, stub.method_id, record->time);
        if (record->time < last || flags & (STUB_COM | STUB_STRUCT))
                return;
        stub.target = (StubTarget){
                stub_table_intern(stubs, record, FIELD_ManagedInteropMethodNamespace),
                stub_table_intern(stubs, record, FIELD_ManagedInteropMethodName),
                stub_table_intern(stubs, record, FIELD_ManagedInteropMethodSignature),
        };
        if (stub.target.name)
                stub_table_restore(stubs, &stub);
        else
                stub_table_release(stubs, &stub.target);
}

const Stub *stub_table_find(const StubTable *stubs, const Record *record)
{
        const Stub *stub = stub_table_get(stubs, record_u64(record, FIELD_MethodID));

        return stub && stub->time <= record->time ? stub : NULL;
}

static bool is_called(const StubTable *stubs, Str str, const char *name)
{
        const char *text = strtab_text(stubs->names, str);

        return text && !strcmp(text, name);
}

bool stub_is_of(const StubTable *stubs, const Stub *stub, const Body *body, const Record *record)
{
        return body->method_id == stub->method_id &&
               record_u64(record, FIELD_ModuleID) == stub->module_id &&
               is_called(stubs, body->name_space, "dynamicClass") &&
               is_called(stubs, body->name,
                         stub->is_reverse ? "IL_STUB_ReversePInvoke" : "IL_STUB_PInvoke");
}

void stub_table_drop(StubTable *stubs, uint64_t method_id, uint64_t time)
{
        Stub *stub = stub_table_get(stubs, method_id);

        if (stub && stub->time <= time)
                stub_table_remove(stubs, stub);
}

void stub_table_drop_module(StubTable *stubs, uint64_t module_id, uint64_t time)
{
        GHashTableIter iter;
        gpointer value;

        g_hash_table_iter_init(&iter, stubs->table);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                Stub *stub = value;

                if (stub->module_id != module_id || stub->time > time)
                        continue;
                g_hash_table_iter_remove(&iter);
                stub_free(stubs, stub);
        }
}
