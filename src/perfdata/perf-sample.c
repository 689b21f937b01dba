/* SPDX-License-Identifier: MIT */
#include "perfdata/perf-sample.h"

#include <string.h>

/* Missing in older versions of linux/perf_event.h. */
#define SAMPLE_BRANCH_COUNTERS (1u << 19)
#define FORMAT_LOST            (1u << 4)

/* Registers of a 64-bit process. */
#define ABI_64 2

#define STACK_MEMBERS (PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

typedef struct Members {
        const uint8_t *record;
        size_t n, at;
        bool is_whole;
} Members;

static void members_skip(Members *members, uint64_t n)
{
        if (n > members->n - members->at)
                members->is_whole = false;
        else
                members->at += (size_t)n;
}

static void members_skip_words(Members *members, uint64_t n)
{
        if (n > UINT16_MAX)
                members->is_whole = false;
        else
                members_skip(members, n * sizeof(uint64_t));
}

static uint64_t members_take(Members *members)
{
        uint64_t value = 0;

        if (members->n - members->at < sizeof(value)) {
                members->is_whole = false;
                return 0;
        }
        memcpy(&value, members->record + members->at, sizeof(value));
        members->at += sizeof(value);
        return value;
}

static void members_skip_read(Members *members, uint64_t format)
{
        const uint64_t times = ((format & PERF_FORMAT_TOTAL_TIME_ENABLED) != 0) +
                               ((format & PERF_FORMAT_TOTAL_TIME_RUNNING) != 0);
        const uint64_t each = 1 + ((format & PERF_FORMAT_ID) != 0) + ((format & FORMAT_LOST) != 0);
        const uint64_t n = format & PERF_FORMAT_GROUP ? members_take(members) : 1;

        if (n > UINT16_MAX)
                members->is_whole = false;
        else
                members_skip_words(members, times + n * each);
}

static void members_skip_raw(Members *members)
{
        uint32_t n = 0;

        if (members->n - members->at >= sizeof(n))
                memcpy(&n, members->record + members->at, sizeof(n));
        members_skip(members, (sizeof(n) + (uint64_t)n + 7) & ~UINT64_C(7));
}

static void members_skip_branches(Members *members, uint64_t type)
{
        const uint64_t n = members_take(members);
        const uint64_t each = 3 + ((type & SAMPLE_BRANCH_COUNTERS) != 0);

        if (n > UINT16_MAX)
                members->is_whole = false;
        else
                members_skip_words(members, n * each + ((type & PERF_SAMPLE_BRANCH_HW_INDEX) != 0));
}

bool perf_sample_has(const struct perf_event_attr *attr)
{
        return (attr->sample_type & STACK_MEMBERS) == STACK_MEMBERS &&
               attr->sample_type & PERF_SAMPLE_TID;
}

bool perf_sample_has_chain(const struct perf_event_attr *attr)
{
        const uint64_t wanted = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;

        return (attr->sample_type & wanted) == wanted;
}

bool perf_sample_is_chain(const struct perf_event_attr *attr)
{
        return perf_sample_has_chain(attr) && !(attr->sample_type & PERF_SAMPLE_STACK_USER);
}

static void members_take_chain(Members *members, PerfSample *sample)
{
        uint64_t n;

        sample->chain_begin = members->at;
        n = members_take(members);
        sample->chain = (const uint64_t *)(const void *)(members->record + members->at);
        members_skip_words(members, n);
        sample->chain_end = members->at;
        sample->n_chain = members->is_whole ? (size_t)n : 0;
}

static void members_take_regs(Members *members, const struct perf_event_attr *attr,
                              PerfSample *sample)
{
        uint64_t abi;

        sample->regs_begin = members->at;
        abi = members_take(members);
        if (abi == ABI_64)
                sample->regs = members->record + members->at;
        /* Samples of kernel threads have no registers. */
        if (abi)
                members_skip_words(members, (uint64_t)__builtin_popcountll(attr->sample_regs_user));
}

static void members_take_stack(Members *members, PerfSample *sample)
{
        const uint64_t size = members_take(members);
        uint64_t copied;

        if (size) {
                sample->stack = members->record + members->at;
                members_skip(members, size);
                copied = members_take(members);
                sample->n_stack = copied < size ? copied : size;
        }
        sample->stack_end = members->at;
}

/* Takes the next member if TYPE has BIT; else returns OTHERWISE. */
static uint64_t members_take_if(Members *members, uint64_t type, uint64_t bit, uint64_t otherwise)
{
        return type & bit ? members_take(members) : otherwise;
}

bool perf_sample_read(const struct perf_event_attr *attr, const struct perf_event_header *record,
                      PerfSample *ret_sample)
{
        const uint64_t type = attr->sample_type;
        Members members = {.record = (const uint8_t *)record,
                           .n = record->size,
                           .at = sizeof(*record),
                           .is_whole = true};
        uint64_t pair, cpu;

        *ret_sample = (PerfSample){0};
        members_take_if(&members, type, PERF_SAMPLE_IDENTIFIER, 0);
        ret_sample->ip = members_take_if(&members, type, PERF_SAMPLE_IP, 0);
        pair = members_take_if(&members, type, PERF_SAMPLE_TID, UINT64_MAX);
        ret_sample->pid = (int32_t)(uint32_t)pair;
        ret_sample->tid = (int32_t)(uint32_t)(pair >> 32);
        ret_sample->time = members_take_if(&members, type, PERF_SAMPLE_TIME, UINT64_MAX);
        members_take_if(&members, type, PERF_SAMPLE_ADDR, 0);
        members_take_if(&members, type, PERF_SAMPLE_ID, 0);
        members_take_if(&members, type, PERF_SAMPLE_STREAM_ID, 0);
        cpu = members_take_if(&members, type, PERF_SAMPLE_CPU, UINT32_MAX);
        ret_sample->cpu = (int32_t)(uint32_t)cpu;
        ret_sample->period =
                members_take_if(&members, type, PERF_SAMPLE_PERIOD, attr->sample_period);
        if (type & PERF_SAMPLE_READ)
                members_skip_read(&members, attr->read_format);
        if (type & PERF_SAMPLE_CALLCHAIN)
                members_take_chain(&members, ret_sample);
        if (type & PERF_SAMPLE_RAW)
                members_skip_raw(&members);
        if (type & PERF_SAMPLE_BRANCH_STACK)
                members_skip_branches(&members, attr->branch_sample_type);
        ret_sample->regs_begin = ret_sample->stack_end = members.at;
        if (type & PERF_SAMPLE_REGS_USER)
                members_take_regs(&members, attr, ret_sample);
        if (type & PERF_SAMPLE_STACK_USER)
                members_take_stack(&members, ret_sample);
        return members.is_whole;
}

/* The begin of the program's part of a chain of N words, at its marker; N: none, or another part
 * follows it. */
static uint64_t chain_user_begin(const uint64_t *chain, uint64_t n)
{
        uint64_t begin = n, i;

        for (i = 0; i < n; i++)
                if (chain[i] >= PERF_CONTEXT_MAX) {
                        if (begin < n)
                                return n;
                        begin = chain[i] == PERF_CONTEXT_USER ? i : n;
                }
        return begin;
}

size_t perf_sample_user_chain(const PerfSample *sample, const uint64_t **ret_chain,
                              uint64_t *ret_begin)
{
        const uint64_t n = sample->n_chain;

        *ret_begin = chain_user_begin(sample->chain, n);
        *ret_chain = sample->chain + *ret_begin + 1;
        return *ret_begin + 1 < n ? (size_t)(n - *ret_begin - 1) : 0;
}
