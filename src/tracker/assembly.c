/* SPDX-License-Identifier: MIT */
#include "tracker/assembly.h"

#include "util/hash.h"

/* Bytes of an entry of a hash table, with the free entries next to it. */
#define TABLE_ENTRY 48

void assembly_table_init(AssemblyTable *table, Strtab *names, Account *account)
{
        *table = (AssemblyTable){
                .names = names,
                .account = account,
                .all = g_ptr_array_new_with_free_func(g_free),
                .newest = g_hash_table_new(hash_u64_key, g_int64_equal),
        };
}

void assembly_table_deinit(AssemblyTable *table)
{
        guint i;

        for (i = 0; i < table->all->len; i++) {
                const Assembly *assembly = table->all->pdata[i];

                strtab_unref(table->names, assembly->name);
                account_remove(table->account, sizeof(*assembly) + TABLE_ENTRY);
        }
        g_hash_table_unref(table->newest);
        g_ptr_array_unref(table->all);
}

bool assembly_is_living(const Assembly *assembly)
{
        return assembly->unloaded == UINT64_MAX;
}

uint32_t assembly_table_n(const AssemblyTable *table)
{
        return table->all->len;
}

Assembly *assembly_table_get(const AssemblyTable *table, uint32_t number)
{
        return number && number <= table->all->len ? table->all->pdata[number - 1] : NULL;
}

uint32_t assembly_table_newest(const AssemblyTable *table, uint64_t id)
{
        return GPOINTER_TO_UINT(g_hash_table_lookup(table->newest, &id));
}

uint32_t assembly_table_find(const AssemblyTable *table, uint64_t id)
{
        uint32_t number = assembly_table_newest(table, id);

        return number && assembly_is_living(assembly_table_get(table, number)) ? number : 0;
}

static uint32_t assembly_table_add(AssemblyTable *table, const Assembly *template)
{
        Assembly *assembly = g_memdup2(template, sizeof(*template));

        g_ptr_array_add(table->all, assembly);
        account_add(table->account, sizeof(*assembly) + TABLE_ENTRY);
        g_hash_table_replace(table->newest, &assembly->id, GUINT_TO_POINTER(table->all->len));
        return table->all->len;
}

uint32_t assembly_table_need(AssemblyTable *table, uint64_t id, uint64_t time)
{
        const Assembly template = {.id = id, .loaded = time, .unloaded = UINT64_MAX};
        uint32_t number = assembly_table_find(table, id);

        if (!id)
                return 0;
        return number ? number : assembly_table_add(table, &template);
}

void assembly_table_end(AssemblyTable *table, uint32_t number, uint64_t time)
{
        Assembly *assembly = assembly_table_get(table, number);

        if (assembly->loaded <= time)
                assembly->unloaded = MIN(assembly->unloaded, time);
}

bool assembly_table_restore(AssemblyTable *table, const Assembly *assembly)
{
        if (!assembly->id || assembly_table_find(table, assembly->id))
                return false;
        assembly_table_add(table, assembly);
        return true;
}
