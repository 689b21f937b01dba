/* SPDX-License-Identifier: MIT */
#pragma once

/* What every decoded record must be: its texts are UTF-8, and all of its bytes can be read. */

#include "event/decode.h"
#include "fuzz.h"

static inline void fuzz_check_value(FieldType type, const Value *value)
{
        unsigned i;

        if (field_type_is_string(type))
                FUZZ_REQUIRE(g_utf8_validate_len((const char *)value->data, value->n, NULL));
        for (i = 0; value->data && i < value->n * MAX(field_type_element_size(type), 1); i++) {
                volatile uint8_t byte = value->data[i];

                (void)byte;
        }
}

static inline void fuzz_check_record(const Record *record)
{
        unsigned i;

        for (i = 0; i < record->event->n_fields; i++)
                fuzz_check_value(record->event->fields[i].type, &record->values[i]);
}
