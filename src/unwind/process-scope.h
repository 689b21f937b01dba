/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * ProcessScope: the processes that belong to a recording, among all on the machine
 *
 * Some processes, and those that they start during the recording, by perf's records of forks. A
 * reused pid is another process. Memory: a row for each process that belongs to it.
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

/* Takes a record that is not a sample, in order of time; ignores others than forks. */
void process_scope_take(ProcessScope *scope, const struct perf_event_header *record);

/* True if PID belongs to it at TIME, in ns of perf's clock. */
bool process_scope_has(const ProcessScope *scope, int32_t pid, uint64_t time);
/* True if PID belongs to it at any time. */
bool process_scope_had(const ProcessScope *scope, int32_t pid);
