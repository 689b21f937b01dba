/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Kept roots: the root directories of recorded processes, kept after the processes have ended
 *
 * A container's root directory can only be found by its processes. With a kept descriptor,
 * rootfs_open_root() finds the files of a process that has ended. File systems that are mounted
 * below it vanish with the last process of its mount namespace.
 */

#include <stdbool.h>
#include <sys/types.h>

/* Processes that are kept. Each takes a descriptor. */
#define KEPT_ROOTS_MAX 256

/* Keeps the root directory of process PID until this program ends. Does nothing if that is our own
 * root directory, if it cannot be opened, or if there are too many. */
void kept_roots_keep(pid_t pid);
