/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * StackSample: a sample of perf record --call-graph dwarf
 *
 * Instead of the program's callers it has the registers of the thread and a copy of the stack from
 * its stack pointer on. The order of its members is that of PERF_RECORD_SAMPLE in
 * linux/perf_event.h.
 */

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Members are borrowed from the record; offsets are bytes from its begin. */
typedef struct StackSample {
        int32_t pid, tid;
        uint64_t time;      /* ns of perf's clock */
        size_t chain_begin; /* the callers in the kernel: their number, and so many */
        size_t chain_end;
        size_t regs_begin; /* what is not needed any more once it is unwound, up to */
        size_t stack_end;  /* there */
        const uint8_t
                *regs; /* numbers of 64 bits, one for each bit of sample_regs_user; NULL: none */
        const uint8_t *stack; /* what was copied; NULL: nothing */
        uint64_t n_stack;     /* in bytes */
} StackSample;

/* Do samples of ATTR have such stacks, with what is needed to unwind them? */
bool stack_sample_has(const struct perf_event_attr *attr);

/* Do they have callers by frame pointers, and the time and thread? */
bool stack_sample_has_chain(const struct perf_event_attr *attr);
/* And nothing else of the stack? */
bool stack_sample_is_chain(const struct perf_event_attr *attr);

/* Reads the sample RECORD, whose ATTR has a chain at least. False: it is shorter than its members.
 */
bool stack_sample_read(const struct perf_event_attr *attr, const struct perf_event_header *record,
                       StackSample *ret_sample);
