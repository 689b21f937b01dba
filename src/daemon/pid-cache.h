/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Pid cache: the processes that pids of other pid namespaces stand for
 *
 * A look-up in /proc takes some 100 us. Results are kept as long as the process lives, at most 256,
 * and 64 for one user, since each takes a descriptor. Look-ups for one user take at most a fifth of
 * the time; beyond that, pids that are not in the cache are answered as unknown.
 *
 * What was found less than SEEN_PROCESS_FRESH_US ago is believed (seen-process.h), also that no
 * such process runs.
 */

#include "util/process-key.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct PidCache PidCache;

PidCache *pid_cache_new(void);
void pid_cache_free(PidCache *cache);

/*
 * The process that is called PID in the namespace PID_NS; UID asks. False: no such process runs. If
 * UID has asked too much, RET_KEY is {PID_NS, PID}.
 */
bool pid_cache_find(PidCache *cache, uid_t uid, uint64_t pid_ns, int32_t pid, ProcessKey *ret_key);
