/* SPDX-License-Identifier: MIT */
#include "core/record.h"

const Value *record_value(const Record *record, FieldName name)
{
        int i = event_field(record->event, name);

        return i < 0 ? NULL : &record->values[i];
}

uint64_t record_u64(const Record *record, FieldName name)
{
        const Value *value = record_value(record, name);

        return value ? value->u : 0;
}

guint process_key_hash(gconstpointer data)
{
        const ProcessKey *key = data;

        return g_int64_hash(&key->pid_ns) ^ (guint)key->pid;
}

gboolean process_key_equal(gconstpointer a, gconstpointer b)
{
        const ProcessKey *x = a, *y = b;

        return x->pid_ns == y->pid_ns && x->pid == y->pid;
}
