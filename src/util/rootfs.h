/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Rootfs: files as a process with another root directory sees them
 *
 * Symbolic links are followed inside that root. The process decides what is there, so nothing but a
 * regular file is ever opened for reading.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The root directory of a process; PID 0: our own. -1 with errno set. */
int rootfs_open_root(pid_t pid);

/* Opens PATH below ROOT with open(2) FLAGS; O_CLOEXEC is added. -1 with errno set. */
int rootfs_open(int root, const char *path, uint64_t flags);
/* Opens a regular file to read. -1 with errno set: EINVAL if it is something else. */
int rootfs_open_file(int root, const char *path);

/* Is PATH, below ROOT, a socket? */
bool rootfs_is_socket(int root, const char *path);
