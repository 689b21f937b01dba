/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * PerfSample: the members of a sample
 *
 * With perf record --call-graph dwarf, a sample has no callers of the program, but the registers of
 * the thread, and a copy of the stack from its stack pointer on. The members are in the order of
 * PERF_RECORD_SAMPLE in linux/perf_event.h.
 */

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PERF_NO_CPU (-1)

/* Words of the largest record. */
#define PERF_MAX_RECORD_WORDS (UINT16_MAX / sizeof(uint64_t) + 1)

/* Members are borrowed from the record; offsets are bytes from the record's begin. */
typedef struct PerfSample {
        int32_t pid, tid;   /* -1: not recorded */
        int32_t cpu;        /* PERF_NO_CPU: not recorded */
        uint64_t ip;        /* 0: not recorded */
        uint64_t time;      /* ns of perf's clock; UINT64_MAX: not recorded */
        uint64_t period;    /* number of events, at least 1, that the sample counts for */
        size_t chain_begin; /* offset of the callers' number, before the callers */
        size_t chain_end;
        const uint64_t *chain; /* the callers, with PERF_CONTEXT_* among them; NULL: not recorded */
        size_t n_chain;
        size_t regs_begin;    /* offset of the registers; the stack follows */
        size_t stack_end;     /* offset of the end of the stack */
        const uint8_t *regs;  /* 64-bit values, one for each bit of sample_regs_user; NULL: none */
        const uint8_t *stack; /* copy of the stack; NULL: none */
        uint64_t n_stack;     /* in bytes */
} PerfSample;

/* True if samples of ATTR have copies of stacks, with the registers for unwinding. */
bool perf_sample_has(const struct perf_event_attr *attr);

/* True if they have callers by frame pointers, the time and the thread. */
bool perf_sample_has_chain(const struct perf_event_attr *attr);
/*
 * True if they also have no copy of the stack. On arm64 perf adds the register of the return
 * address to a chain.
 */
bool perf_sample_is_chain(const struct perf_event_attr *attr);

/* Reads the sample RECORD. False: the record is truncated. */
bool perf_sample_read(const struct perf_event_attr *attr, const struct perf_event_header *record,
                      PerfSample *ret_sample);

/*
 * The program's part of the chain of SAMPLE, its leaf first, and the number of words before it.
 * Returns the number of addresses; 0: none, or another part follows it.
 */
size_t perf_sample_user_chain(const PerfSample *sample, const uint64_t **ret_chain,
                              uint64_t *ret_begin);
