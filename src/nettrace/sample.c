/* SPDX-License-Identifier: MIT */
#include "nettrace/sample.h"

#include "nettrace/wide.h"

#include <math.h>

#define SAMPLER "Microsoft-DotNETCore-SampleProfiler"
#define RUNTIME "Microsoft-Windows-DotNETRuntime"

/* The payload of the sampler's event: the kind of code that the thread ran. */
enum {
        SAMPLE_IN_NATIVE_CODE = 1,
        SAMPLE_IN_MANAGED_CODE = 2,
};

/* Bytes shown of a type's name; longer texts are no names. */
#define MAX_TYPE 4096

/* The runtime samples each allocated byte with a probability of one in this many. */
#define MEAN_BYTES 102400.0

static bool sample_take_thread(NettraceCursor *cursor, uint32_t n_pointer, GString *type,
                               NettraceSample *sample)
{
        const uint32_t where = nettrace_u32(cursor);

        (void)n_pointer, (void)type;
        sample->is_managed = where == SAMPLE_IN_MANAGED_CODE;
        sample->weight = 1;
        return sample->is_managed || where == SAMPLE_IN_NATIVE_CODE;
}

static void sample_take_type(NettraceCursor *cursor, GString *type, NettraceSample *sample)
{
        if (nettrace_wide(cursor, type) && type->len && type->len <= MAX_TYPE)
                sample->type = type->str;
}

static bool sample_set_weight(NettraceSample *sample, double weight)
{
        /* NaN fails both comparisons. */
        if (!(weight >= 1 && weight <= (double)NETTRACE_MAX_WEIGHT))
                return false;
        sample->weight = (uint64_t)weight;
        return true;
}

static bool sample_take_alloc_sampled(NettraceCursor *cursor, uint32_t n_pointer, GString *type,
                                      NettraceSample *sample)
{
        double size;

        nettrace_bytes(cursor, 4 + 2 + n_pointer); /* kind, runtime, type */
        sample_take_type(cursor, type, sample);
        nettrace_bytes(cursor, n_pointer); /* of the object */
        size = (double)nettrace_u64(cursor);
        /* An object of that size is sampled with the probability 1 - exp(-size / mean). */
        return !cursor->is_short && size > 0 &&
               sample_set_weight(sample, size / -expm1(-size / MEAN_BYTES) + 0.5);
}

static bool sample_take_alloc_tick(NettraceCursor *cursor, uint32_t n_pointer, GString *type,
                                   NettraceSample *sample)
{
        uint64_t amount = nettrace_u32(cursor);

        nettrace_bytes(cursor, 4 + 2); /* kind, runtime */
        if (cursor->is_short)
                return false;
        if (nettrace_left(cursor) >= 8) { /* from version 2 on */
                amount = nettrace_u64(cursor);
                nettrace_bytes(cursor, n_pointer);
                sample_take_type(cursor, type, sample);
        }
        return sample_set_weight(sample, (double)amount);
}

static bool sample_take_contention(NettraceCursor *cursor, uint32_t n_pointer, GString *type,
                                   NettraceSample *sample)
{
        union {
                uint64_t bits;
                double ns;
        } duration;

        (void)n_pointer, (void)type;
        nettrace_bytes(cursor, 1 + 2); /* flags, runtime */
        duration.bits = nettrace_u64(cursor);
        return !cursor->is_short && sample_set_weight(sample, duration.ns);
}

static bool sample_take_wait(NettraceCursor *cursor, uint32_t n_pointer, GString *type,
                             NettraceSample *sample)
{
        (void)cursor, (void)n_pointer, (void)type, (void)sample;
        return true;
}

static bool sample_take_exception(NettraceCursor *cursor, uint32_t n_pointer, GString *type,
                                  NettraceSample *sample)
{
        (void)n_pointer;
        sample_take_type(cursor, type, sample);
        sample->weight = 1;
        return true;
}

static const struct {
        const char *provider;
        uint32_t id;
        bool (*take)(NettraceCursor *cursor, uint32_t n_pointer, GString *type,
                     NettraceSample *sample);
} KINDS[_NETTRACE_SAMPLE_KIND_MAX] = {
        [NETTRACE_SAMPLE_THREAD] = {SAMPLER, 0, sample_take_thread},
        [NETTRACE_SAMPLE_ALLOC_SAMPLED] = {RUNTIME, 303, sample_take_alloc_sampled},
        [NETTRACE_SAMPLE_ALLOC_TICK] = {RUNTIME, 10, sample_take_alloc_tick},
        [NETTRACE_SAMPLE_CONTENTION] = {RUNTIME, 91, sample_take_contention},
        [NETTRACE_SAMPLE_WAIT] = {RUNTIME, 81, sample_take_wait},
        [NETTRACE_SAMPLE_EXCEPTION] = {RUNTIME, 80, sample_take_exception},
};

NettraceSampleKind nettrace_sample_kind(const char *provider, size_t n, uint32_t id)
{
        NettraceSampleKind kind;

        for (kind = NETTRACE_SAMPLE_NONE + 1; kind < _NETTRACE_SAMPLE_KIND_MAX; kind++)
                if (KINDS[kind].id == id && strlen(KINDS[kind].provider) == n &&
                    !memcmp(KINDS[kind].provider, provider, n))
                        return kind;
        return NETTRACE_SAMPLE_NONE;
}

bool nettrace_sample_decode(NettraceSampleKind kind, const uint8_t *payload, size_t n,
                            uint32_t n_pointer, GString *type, NettraceSample *sample)
{
        NettraceCursor cursor = nettrace_cursor(payload, n);

        sample->kind = kind;
        sample->type = NULL;
        sample->is_managed = false;
        return KINDS[kind].take(&cursor, n_pointer, type, sample);
}
