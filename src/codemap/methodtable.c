/* SPDX-License-Identifier: MIT */
#include "codemap/methodtable.h"

#include "util/hash.h"

static size_t slots_size(unsigned n_bits)
{
        return sizeof(MethodSlot) << n_bits;
}

void methodtable_init(MethodTable *table, const BodyStore *store)
{
        *table = (MethodTable){.store = store, .n_bits = 4};
        table->slots = g_new0(MethodSlot, (size_t)1 << table->n_bits);
        account_add(store->account, slots_size(table->n_bits));
}

void methodtable_deinit(MethodTable *table)
{
        account_remove(table->store->account, slots_size(table->n_bits));
        g_clear_pointer(&table->slots, g_free);
}

static uint32_t method_hash(uint64_t method_id, uint32_t rejit_id)
{
        return (uint32_t)(hash_u64(hash_u64(method_id) ^ rejit_id) >> 32);
}

static size_t methodtable_home(const MethodTable *table, uint32_t hash)
{
        return hash >> (32 - table->n_bits);
}

static size_t methodtable_mask(const MethodTable *table)
{
        return ((size_t)1 << table->n_bits) - 1;
}

static Body *methodtable_slot_body(const MethodTable *table, size_t i)
{
        return body_store_get(table->store, table->slots[i].body - 1);
}

static bool slot_has(const MethodTable *table, size_t i, uint32_t hash, uint64_t method_id,
                     uint32_t rejit_id)
{
        const Body *body;

        if (table->slots[i].hash != hash)
                return false;
        body = methodtable_slot_body(table, i);
        return body->method_id == method_id && body->rejit_id == rejit_id;
}

/* The slot of that version, or the free slot for it. */
static size_t methodtable_find_slot(const MethodTable *table, uint32_t hash, uint64_t method_id,
                                    uint32_t rejit_id)
{
        size_t i = methodtable_home(table, hash);

        while (table->slots[i].body && !slot_has(table, i, hash, method_id, rejit_id))
                i = (i + 1) & methodtable_mask(table);
        return i;
}

static void methodtable_grow(MethodTable *table)
{
        MethodSlot *old = table->slots;
        size_t n = (size_t)1 << table->n_bits, i, j;

        table->n_bits++;
        account_change(table->store->account, slots_size(table->n_bits - 1),
                       slots_size(table->n_bits));
        table->slots = g_new0(MethodSlot, n * 2);
        for (i = 0; i < n; i++) {
                if (!old[i].body)
                        continue;
                for (j = methodtable_home(table, old[i].hash); table->slots[j].body;)
                        j = (j + 1) & methodtable_mask(table);
                table->slots[j] = old[i];
        }
        g_free(old);
}

void methodtable_add(MethodTable *table, const Body *body)
{
        uint32_t hash = method_hash(body->method_id, body->rejit_id);
        size_t i;

        if ((table->n_used + 1) * 4 > ((size_t)3 << table->n_bits))
                methodtable_grow(table);
        i = methodtable_find_slot(table, hash, body->method_id, body->rejit_id);
        table->n_used += !table->slots[i].body;
        table->slots[i] = (MethodSlot){body->number + 1, hash};
}

void methodtable_remove(MethodTable *table, const Body *body)
{
        uint32_t hash = method_hash(body->method_id, body->rejit_id);
        size_t i = methodtable_find_slot(table, hash, body->method_id, body->rejit_id), j = i;

        if (table->slots[i].body != body->number + 1)
                return;
        /* Close the hole in the probe sequence: move up each entry that may move. */
        for (;;) {
                size_t home;

                j = (j + 1) & methodtable_mask(table);
                if (!table->slots[j].body)
                        break;
                home = methodtable_home(table, table->slots[j].hash);
                if (((j - home) & methodtable_mask(table)) >= ((j - i) & methodtable_mask(table))) {
                        table->slots[i] = table->slots[j];
                        i = j;
                }
        }
        table->slots[i] = (MethodSlot){0};
        table->n_used--;
}

Body *methodtable_find(const MethodTable *table, uint64_t method_id, uint32_t rejit_id)
{
        size_t i =
                methodtable_find_slot(table, method_hash(method_id, rejit_id), method_id, rejit_id);

        return table->slots[i].body ? methodtable_slot_body(table, i) : NULL;
}

size_t methodtable_growth(const MethodTable *table)
{
        return (table->n_used + 1) * 4 > ((size_t)3 << table->n_bits)
                       ? slots_size(table->n_bits + 1)
                       : 0;
}
