/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Wait until a daemon knows all code of an attached process
 */

#include "cli/options.h"

typedef struct WaitComplete WaitComplete;

/* Call this before attaching. NULL with ERROR set: no daemon answers. */
WaitComplete *wait_complete_new(const Options *options, GError **error);
void wait_complete_free(WaitComplete *wait);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WaitComplete, wait_complete_free)

typedef struct WaitTarget {
        int32_t pid;  /* as the user gave it, for messages */
        int32_t vpid; /* in its own pid namespace */
        uint64_t pid_ns;
        bool is_eventpipe; /* the events come by EventPipe: for the likely cause of a failure */
} WaitTarget;

/*
 * Waits until DEADLINE of g_get_monotonic_time() for the daemon to have all events of TARGET up to
 * TIME, the end of its rundown. RET_METHODS: number of bodies then. False with ERROR set to the
 * likely cause on timeout.
 */
bool wait_complete_run(WaitComplete *wait, const WaitTarget *target, uint64_t time, gint64 deadline,
                       uint64_t *ret_methods, GError **error);
