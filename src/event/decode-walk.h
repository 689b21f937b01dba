/* SPDX-License-Identifier: MIT */
#pragma once

/* The walk of a row over a field source, compiled into each source that has to be fast */

#include "event/decode.h"

typedef DecodeResult (*SourceRead)(Source *source, unsigned index, FieldType type, uint32_t count,
                                   Value *ret_value);
typedef DecodeResult (*SourceFinish)(Source *source);

/* If READ and FINISH are constants, the compiler inlines them. */
static inline DecodeResult decode_walk(const Event *event, Source *source, SourceRead read,
                                       SourceFinish finish, Record *record)
{
        unsigned i;

        record->event = event;
        for (i = 0; i < event->n_fields; i++) {
                FieldType type = event->fields[i].type;
                uint32_t count = 0;
                DecodeResult result;

                if (event->fields[i].count != _FIELD_NAME_MAX) {
                        int count_field = event_count_field(event, i);

                        g_assert(count_field >= 0);
                        /* Counts are u16 or u32 fields. */
                        count = (uint32_t)record->values[count_field].u;
                }
                record->values[i] = (Value){0};
                result = read(source, i, type, count, &record->values[i]);
                if (result != DECODE_OK)
                        return result;
        }
        return finish(source);
}
