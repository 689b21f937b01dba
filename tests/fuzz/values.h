/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Checks of every decoded record: its texts are UTF-8, and all of its bytes are readable. And a
 * digest of records, to compare two ways of reading.
 */

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

static inline void fuzz_digest(uint64_t *digest, uint64_t value)
{
        *digest = (*digest ^ value) * UINT64_C(0x100000001b3);
}

static inline void fuzz_digest_value(uint64_t *digest, const Value *value, size_t size)
{
        size_t i;

        fuzz_digest(digest, value->u);
        for (i = 0; i < size; i++)
                fuzz_digest(digest, value->data[i]);
}

/* Adds RECORD to the digest, and checks it. */
static inline void fuzz_digest_record(uint64_t *digest, const Record *record)
{
        unsigned i;

        fuzz_check_record(record);
        fuzz_digest(digest, record->time);
        fuzz_digest(digest, (uint32_t)record->process.pid);
        fuzz_digest_value(digest, &record->program, record->program.n);
        for (i = 0; i < record->event->n_fields; i++)
                fuzz_digest_value(digest, &record->values[i], record_value_size(record, i));
}
