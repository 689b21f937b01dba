/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * PerfSample: the members of a sample
 *
 * With perf record --call-graph dwarf a sample has, instead of the program's callers, the registers
 * of the thread and a copy of the stack from its stack pointer on. The order of the members is that
 * of PERF_RECORD_SAMPLE in linux/perf_event.h.
 */

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PERF_NO_CPU (-1)

/* Members are borrowed from the record; offsets are bytes from its begin. */
typedef struct PerfSample {
        int32_t pid, tid;   /* -1: not recorded */
        int32_t cpu;        /* PERF_NO_CPU: not recorded */
        uint64_t ip;        /* 0: not recorded */
        uint64_t time;      /* ns of perf's clock; UINT64_MAX: not recorded */
        uint64_t period;    /* the number of events that the sample stands for */
        size_t chain_begin; /* the callers: their number, and so many */
        size_t chain_end;
        const uint64_t *chain; /* the callers, with PERF_CONTEXT_* among them; NULL: not recorded */
        size_t n_chain;
        size_t regs_begin; /* registers and stack, which the callers are found in, up to */
        size_t stack_end;  /* there */
        const uint8_t
                *regs; /* numbers of 64 bits, one for each bit of sample_regs_user; NULL: none */
        const uint8_t *stack; /* the copy; NULL: nothing */
        uint64_t n_stack;     /* in bytes */
} PerfSample;

/* Do samples of ATTR have such stacks, with the registers that unwinding needs? */
bool perf_sample_has(const struct perf_event_attr *attr);

/* Do they have callers by frame pointers, and the time and thread? */
bool perf_sample_has_chain(const struct perf_event_attr *attr);
/* And no copy of the stack? On arm64 perf adds the register with the return address to a chain. */
bool perf_sample_is_chain(const struct perf_event_attr *attr);

/* Reads the sample RECORD. False: it is shorter than its members. */
bool perf_sample_read(const struct perf_event_attr *attr, const struct perf_event_header *record,
                      PerfSample *ret_sample);
