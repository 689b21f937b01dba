/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Pid cache: the processes behind pids of other pid namespaces
 *
 * A lookup in /proc takes some 100 us. A result stays while its process lives. The cache has at
 * most 256 results, and 64 for one user, because each needs a descriptor. Lookups for one user take
 * at most a fifth of the time; above that, pids outside of the cache are answered as unknown.
 *
 * A result, even "no such process", is trusted for SEEN_PROCESS_FRESH_US (seen-process.h).
 */

#include "util/process-key.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct PidCache PidCache;

PidCache *pid_cache_new(void);
void pid_cache_free(PidCache *cache);

/*
 * The process with pid PID in the namespace PID_NS; UID asks. False: no such process runs. If UID
 * has used up its time, RET_KEY is {PID_NS, PID}.
 */
bool pid_cache_find(PidCache *cache, uid_t uid, uint64_t pid_ns, int32_t pid, ProcessKey *ret_key);
