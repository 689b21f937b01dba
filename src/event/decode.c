/* SPDX-License-Identifier: MIT */
#include "event/decode.h"

#include "event/decode-walk.h"

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

        /* An empty text needs an address, too, so a buffer always exists. */
        if (scratch->bytes && scratch->n_allocated - scratch->n_bytes >= n)
                return;
        size = MAX(scratch->n_bytes + MAX(n, 1), 2 * scratch->n_allocated);
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
        return decode_walk(event, source, source->read, source->finish, record);
}
