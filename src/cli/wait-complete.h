/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Wait until a daemon knows all code of a process that was attached
 */

#include "cli/options.h"

typedef struct WaitComplete WaitComplete;

/* Call this before anything is attached. NULL with ERROR set: no daemon answers. */
WaitComplete *wait_complete_new(const Options *options, GError **error);
void wait_complete_free(WaitComplete *wait);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WaitComplete, wait_complete_free)

typedef struct WaitTarget {
        int32_t vpid;
        uint64_t pid_ns;
        bool is_eventpipe; /* how its events come: for the likely cause of a failure */
} WaitTarget;

/*
 * Waits, up to DEADLINE of g_get_monotonic_time(), until the daemon has all events of TARGET up to
 * TIME, the end of its rundown. RET_METHODS is how many bodies it has then. False with ERROR set if
 * the daemon does not, with the likely cause.
 */
bool wait_complete_run(WaitComplete *wait, const WaitTarget *target, uint64_t time, gint64 deadline,
                       uint64_t *ret_methods, GError **error);
