/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Seen process: a process, and when it was last seen running
 *
 * To ask the kernel whether a process runs takes as long as the rest of an answer. So one that was
 * seen less than SEEN_PROCESS_FRESH_US ago is believed to run. One that has ended but was not yet
 * waited for runs too, since it still holds its pid.
 *
 * Times are in us, of g_get_monotonic_time(). The caller passes the present one, so that tests need
 * not wait.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* us. No pid is used again so soon: the kernel takes all others first. */
#define SEEN_PROCESS_FRESH_US 200

typedef struct SeenProcess {
        int pidfd;    /* owned; -1: there is no such process */
        int64_t seen; /* us: it was running then; 0: it was not seen yet */
} SeenProcess;

/*
 * Process PID of our own pid namespace, not seen yet; the caller clears it. If it cannot be opened,
 * because there is no such process or no descriptor is left, it does not live.
 */
SeenProcess seen_process_open(pid_t pid);
void seen_process_clear(SeenProcess *process);

/*
 * Does it run? The first call always asks the kernel: then what was read from /proc since it was
 * opened is about this process, and not about a later one with its pid.
 */
bool seen_process_lives(SeenProcess *process, int64_t now);
