/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Completeness: does the daemon know all code of a process that was attached?
 */

#include "cli/options.h"

typedef struct Completeness Completeness;

/* Call before anything is attached. NULL with ERROR set: no daemon answers. */
Completeness *completeness_new(const Options *options, GError **error);
void completeness_free(Completeness *completeness);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Completeness, completeness_free)

/*
 * Waits, up to DEADLINE of g_get_monotonic_time(), until the daemon has all that process VPID of
 * PID_NS told up to TIME, when it had listed everything. RET_METHODS is how many bodies live then.
 * False with ERROR set: it has not, and why that may be.
 */
bool completeness_wait(Completeness *completeness, int32_t vpid, uint64_t pid_ns, uint64_t time,
                       gint64 deadline, uint64_t *ret_methods, GError **error);
