/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Processes: which of those that run now have a .NET runtime that could be attached to
 */

#include <glib.h>
#include <sys/types.h>

#define PROCESSES_ANY_USER ((uid_t)-1)

/* Pids of our own pid namespace, of pid_t, the lowest first; those that may not be looked into are
 * left out. The caller's. */
GArray *processes_find(uid_t uid);
