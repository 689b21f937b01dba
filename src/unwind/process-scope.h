/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * ProcessScope: the processes of a recording, of all that perf has recorded on the machine
 *
 * Some processes, and what they start while perf records, by its records of forks. A pid that is
 * used again is another process. Memory: a row for each process that belongs to it.
 */

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct ProcessScope ProcessScope;

ProcessScope *process_scope_new(const pid_t *pids, size_t n);
/* NULL is fine. */
void process_scope_free(ProcessScope *scope);

/* Takes a record that is not a sample, in the order of time; what it does not need is ignored. */
void process_scope_take(ProcessScope *scope, const struct perf_event_header *record);

/* Does PID belong to it at TIME, in ns of perf's clock? */
bool process_scope_has(const ProcessScope *scope, int32_t pid, uint64_t time);
/* Does it at any time? */
bool process_scope_had(const ProcessScope *scope, int32_t pid);
