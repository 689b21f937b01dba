/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Process filter: which processes are left out when all are attached
 *
 * A rule is KIND:PATTERN. "user:postgres" or "user:70": of that user. "cgroup:*GLOB*" and
 * "command:*GLOB*", with * and ?: the path of its cgroup, and its arguments with a space between
 * them.
 */

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

typedef struct ProcessFilter ProcessFilter;

ProcessFilter *process_filter_new(void);
void process_filter_free(ProcessFilter *filter);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ProcessFilter, process_filter_free)

/* NULL, or what is wrong with RULE (static). */
const char *process_filter_add(ProcessFilter *filter, const char *rule);
/* Process PID of our own pid namespace, of user UID, is left out. */
bool process_filter_excludes(const ProcessFilter *filter, pid_t pid, uid_t uid);
