/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Process filter: excludes processes when all are attached
 *
 * A rule is KIND:PATTERN. "user:postgres" or "user:70": processes of that user. "cgroup:*GLOB*" and
 * "command:*GLOB*", with * and ?: match the path of the process's cgroup, and its arguments joined
 * by spaces.
 */

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

typedef struct ProcessFilter ProcessFilter;

ProcessFilter *process_filter_new(void);
void process_filter_free(ProcessFilter *filter);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ProcessFilter, process_filter_free)

/* The mistake in RULE (static), or NULL. */
const char *process_filter_add(ProcessFilter *filter, const char *rule);
/* True if process PID of our own pid namespace, of user UID, is excluded. */
bool process_filter_excludes(const ProcessFilter *filter, pid_t pid, uid_t uid);
