/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Seen process: a process, and the last time at which it was seen running
 *
 * Asking the kernel whether a process runs takes as long as the rest of an answer. A process seen
 * less than SEEN_PROCESS_FRESH_US ago is therefore assumed to run. A zombie counts as running,
 * because it still holds its pid.
 *
 * Times are in us, of g_get_monotonic_time(). The caller passes the present time, so that tests
 * need not wait.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* us. No pid is reused so soon, because the kernel takes all others first. */
#define SEEN_PROCESS_FRESH_US 200

typedef struct SeenProcess {
        int pidfd;    /* owned; -1: no such process */
        int64_t seen; /* us: it was running then; 0: never seen */
} SeenProcess;

/*
 * Process PID of the daemon's own pid namespace, not seen yet; the caller clears it. If it cannot
 * be opened, because it does not exist or no descriptor is left, it counts as ended.
 */
SeenProcess seen_process_open(pid_t pid);
void seen_process_clear(SeenProcess *process);

/*
 * True if the process runs. The first call always asks the kernel. After it, data read from /proc
 * since the opening is about this process, and not about a later one with its pid.
 */
bool seen_process_lives(SeenProcess *process, int64_t now);
