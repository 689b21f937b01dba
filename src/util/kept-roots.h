/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Kept roots: the root directories of recorded processes, beyond the end of these
 *
 * A container's root directory is found by its processes only. With a descriptor of it, the files
 * of a process that has ended are found in rootfs_open_root(). File systems that are mounted below
 * it go with the last process of its mount namespace.
 */

#include <stdbool.h>
#include <sys/types.h>

/* So many processes are kept. Each takes a descriptor. */
#define KEPT_ROOTS_MAX 256

/*
 * Keeps the root directory of process PID until this program ends. Does nothing if that is our own
 * root directory, or if it is not to be had, or if there are too many.
 */
void kept_roots_keep(pid_t pid);
