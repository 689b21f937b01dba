/* SPDX-License-Identifier: MIT */
#include "event/decode.h"

static const char *const RESULT_NAMES[_DECODE_RESULT_MAX] = {
        [DECODE_OK] = "ok",
        [DECODE_TRUNCATED] = "truncated",
        [DECODE_LEFTOVER] = "bytes left over",
        [DECODE_MISMATCH] = "fields not as expected",
};

const char *decode_result_name(DecodeResult result)
{
        return RESULT_NAMES[result];
}

void decode_scratch_deinit(DecodeScratch *scratch)
{
        g_free(scratch->bytes);
        *scratch = DECODE_SCRATCH_INIT;
}

void decode_scratch_reset(DecodeScratch *scratch)
{
        scratch->n_bytes = 0;
}

void decode_scratch_reserve(DecodeScratch *scratch, size_t n)
{
        size_t size;

        if (scratch->n_allocated - scratch->n_bytes >= n)
                return;
        size = MAX(scratch->n_bytes + n, 2 * scratch->n_allocated);
        scratch->bytes = g_realloc(scratch->bytes, size);
        scratch->n_allocated = size;
}

uint8_t *decode_scratch_take(DecodeScratch *scratch, size_t n)
{
        uint8_t *bytes;

        decode_scratch_reserve(scratch, n);
        bytes = scratch->bytes + scratch->n_bytes;
        scratch->n_bytes += n;
        return bytes;
}

DecodeResult decode_record(const Event *event, Source *source, Record *record)
{
        unsigned i;

        record->event = event;
        for (i = 0; i < event->n_fields; i++) {
                FieldType type = event->fields[i].type;
                uint32_t count = 0;
                DecodeResult result;

                if (field_type_element_size(type)) {
                        int count_field = event_count_field(event, i);

                        g_assert(count_field >= 0);
                        /* Counts are u16 or u32 fields. */
                        count = (uint32_t)record->values[count_field].u;
                }
                record->values[i] = (Value){0};
                result = source->read(source, i, type, count, &record->values[i]);
                if (result != DECODE_OK)
                        return result;
        }
        return source->finish(source);
}
