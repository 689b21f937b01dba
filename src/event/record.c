/* SPDX-License-Identifier: MIT */
#include "event/record.h"

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
