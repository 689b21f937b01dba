/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Target logs: the entries of all logs of one kind (attach/target-log.h), read while they are
 * written
 *
 * The entries that are read have no room on the disk any more, where the file system can punch
 * holes: so the logs of a recording without an end stay small. The log of a process that has ended
 * is removed.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct TargetLogs TargetLogs;

/* Takes an entry. False: there is no room for it. */
typedef bool (*TargetLogsTake)(const void *entry, void *data);
/* The log of process PID is gone. */
typedef void (*TargetLogsEnded)(int32_t pid, void *data);

/* SIZE: bytes of an entry. */
TargetLogs *target_logs_new(const char *directory, size_t size);
void target_logs_free(TargetLogs *logs);

/* Passes on the entries that have come since the last call. */
void target_logs_read(TargetLogs *logs, TargetLogsTake take, void *data);
/* Removes the logs of the processes that have ended, some time after their last entry. */
void target_logs_forget(TargetLogs *logs, TargetLogsEnded ended, void *data);
/* Logs that lack entries, because one was not taken, or because they have MAX_BYTES. */
unsigned target_logs_n_cut(const TargetLogs *logs, uint64_t max_bytes);
