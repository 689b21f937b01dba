/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Rooted: files as a process sees them whose root directory is another one
 *
 * Symbolic links are followed within that directory. What is there is the process's to make: only
 * regular files are read, and no more than asked for.
 */

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/* The root directory of a process; PID 0: ours. -1 with errno set. */
int rooted_open_root(pid_t pid);

/* The first MAX bytes of PATH, below ROOT. The caller's; NULL with errno set: it cannot be read. */
GBytes *rooted_read(int root, const char *path, size_t max);
/* Is PATH, below ROOT, a socket? */
bool rooted_is_socket(int root, const char *path);
