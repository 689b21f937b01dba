/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Target log: a file of entries about one target, for a program that samples threads
 *
 * It is written only if its directory is there: beside the attachment's file, with the name of that
 * file. A reader can read it meanwhile, and punch a hole of what it has read: these bytes do not
 * count for the limit.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct TargetLog TargetLog;

/* PATH: of the attachment's file. DIRECTORY: the name of the log's. MAX_BYTES: of the log, without
 * holes. NULL:
 * nobody wants one. */
TargetLog *target_log_open(const char *path, const char *directory, uint64_t max_bytes);
/* Writes the rest. NULL is fine. */
void target_log_close(TargetLog *log);
/* Hands all entries to the reader. NULL is fine. */
void target_log_flush(TargetLog *log);
/* Adds an entry of N bytes, unless the log has no room for it. Returns true if it has none for
 * another one now, and had before. */
bool target_log_write(TargetLog *log, const void *entry, size_t n);
