/* SPDX-License-Identifier: MIT */
#include "perfdata/perf-inflater.h"

#include "perfdata/error.h"

#include <string.h>
#include <zstd.h>

struct PerfInflater {
        ZSTD_DStream *stream;
        uint8_t *bytes; /* owned */
        size_t n, size; /* of bytes, in bytes */
        size_t at;      /* offset of the next record */
};

PerfInflater *perf_inflater_new(void)
{
        PerfInflater *inflater = g_new0(PerfInflater, 1);

        inflater->stream = ZSTD_createDStream();
        return inflater;
}

void perf_inflater_free(PerfInflater *inflater)
{
        if (!inflater)
                return;
        ZSTD_freeDStream(inflater->stream);
        g_free(inflater->bytes);
        g_free(inflater);
}

void perf_inflater_rewind(PerfInflater *inflater)
{
        inflater->n = inflater->at = 0;
        if (inflater->stream)
                ZSTD_DCtx_reset(inflater->stream, ZSTD_reset_session_only);
}

static bool inflater_fail(GError **error, const char *reason)
{
        g_set_error(error, PERFDATA_ERROR, PERFDATA_ERROR_DAMAGED,
                    "its compressed records cannot be read: %s", reason);
        return false;
}

/* Makes room for more bytes. */
static bool inflater_grow(PerfInflater *inflater)
{
        if (inflater->size == PERF_MAX_INFLATED)
                return false;
        inflater->size = inflater->size ? inflater->size * 2 : 1u << 20;
        inflater->bytes = g_realloc(inflater->bytes, inflater->size);
        return true;
}

bool perf_inflater_put(PerfInflater *inflater, const void *bytes, size_t n, GError **error)
{
        ZSTD_inBuffer in = {.src = bytes, .size = n};
        ZSTD_outBuffer out;

        if (!inflater->stream)
                return inflater_fail(error, "no memory left");
        inflater->n -= inflater->at;
        if (inflater->n)
                memmove(inflater->bytes, inflater->bytes + inflater->at, inflater->n);
        inflater->at = 0;
        do {
                size_t r;

                if (inflater->n == inflater->size && !inflater_grow(inflater))
                        return inflater_fail(error, "one is larger than perf writes");
                out = (ZSTD_outBuffer){
                        .dst = inflater->bytes, .size = inflater->size, .pos = inflater->n};
                r = ZSTD_decompressStream(inflater->stream, &out, &in);
                if (ZSTD_isError(r))
                        return inflater_fail(error, ZSTD_getErrorName(r));
                inflater->n = out.pos;
        } while (in.pos < in.size || out.pos == out.size);
        return true;
}

bool perf_inflater_next(PerfInflater *inflater, const struct perf_event_header **ret_record)
{
        const size_t n = inflater->n - inflater->at;
        struct perf_event_header header;

        *ret_record = NULL;
        if (n < sizeof(header))
                return true;
        memcpy(&header, inflater->bytes + inflater->at, sizeof(header));
        if (header.size < sizeof(header) || header.size % sizeof(uint64_t) != 0)
                return false;
        if (n < header.size)
                return true;
        *ret_record =
                (const struct perf_event_header *)(const void *)(inflater->bytes + inflater->at);
        inflater->at += header.size;
        return true;
}
