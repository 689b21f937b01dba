/* SPDX-License-Identifier: MIT */
#include "event/decode-walk.h"

#include <string.h>

/* Bits of a byte of LEB128. */
#define NUMBER_BITS 7

typedef struct CompactSource {
        Source source;
        const uint8_t *at, *end;
        DecodeScratch *scratch;
} CompactSource;

static DecodeResult compact_read_number(CompactSource *compact, uint64_t *ret)
{
        uint64_t value = 0;
        unsigned shift;

        for (shift = 0; compact->at < compact->end; shift += NUMBER_BITS) {
                const uint8_t byte = *compact->at++;

                if (shift >= 64 || (shift == 63 && byte > 1))
                        return DECODE_MISMATCH;
                value |= (uint64_t)(byte & 0x7f) << shift;
                if (!(byte & 0x80)) {
                        *ret = value;
                        return DECODE_OK;
                }
        }
        return DECODE_TRUNCATED;
}

static DecodeResult compact_read_text(CompactSource *compact, Value *ret_value)
{
        const size_t left = (size_t)(compact->end - compact->at);
        uint8_t *room = compact->scratch->bytes + compact->scratch->n_bytes;
        size_t n;

        if (left < 2)
                return DECODE_TRUNCATED;
        n = (size_t)compact->at[0] | (size_t)compact->at[1] << 8;
        if (n > left - 2)
                return DECODE_TRUNCATED;
        ret_value->data = room;
        /* The text ends at a NUL. */
        ret_value->n = (uint32_t)utf8_make_valid(compact->at + 2,
                                                 strnlen((const char *)compact->at + 2, n), room);
        compact->scratch->n_bytes += ret_value->n;
        compact->at += 2 + n;
        return DECODE_OK;
}

static DecodeResult compact_read(Source *source, unsigned index, FieldType type, uint32_t count,
                                 Value *ret_value)
{
        CompactSource *compact = (CompactSource *)source;

        return field_type_is_string(type) ? compact_read_text(compact, ret_value)
                                          : compact_read_number(compact, &ret_value->u);
}

static DecodeResult compact_finish(Source *source)
{
        return DECODE_OK;
}

DecodeResult compact_decode(const Event *event, const uint8_t *bytes, size_t n_bytes,
                            DecodeScratch *scratch, Record *record)
{
        CompactSource compact = {
                .at = bytes,
                .end = n_bytes ? bytes + n_bytes : bytes,
                .scratch = scratch,
        };

        decode_scratch_reserve(scratch, packed_decode_size(n_bytes));
        return decode_walk(event, &compact.source, compact_read, compact_finish, record);
}
