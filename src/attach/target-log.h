/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Target log: a file of entries about one target, for a program that samples threads
 *
 * The log is written only if its directory exists: beside the attachment's file, with the name of
 * that file.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct TargetLog TargetLog;

/* PATH: the attachment's file. DIRECTORY: name of the log's directory. MAX_BYTES: limit of the log.
 * NULL: no log is wanted. */
TargetLog *target_log_open(const char *path, const char *directory, uint64_t max_bytes);
/* Writes the rest. NULL is fine. */
void target_log_close(TargetLog *log);
/* Adds an entry of N bytes if it fits. Returns true if the log has become full by this call. */
bool target_log_write(TargetLog *log, const void *entry, size_t n);
