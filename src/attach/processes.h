/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Processes: which running processes have a .NET runtime that could be attached to
 */

#include <glib.h>
#include <sys/types.h>

#define PROCESSES_ANY_USER ((uid_t)-1)

/*
 * Finds the running processes of user UID that have a .NET runtime: an array of pid_t in our own
 * pid namespace, ascending, without processes that we may not look into. The caller owns it.
 */
GArray *processes_find(uid_t uid);
