/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Rootfs read: a file as a process with another root directory sees it, and no more of it than the
 * caller asks for
 */

#include <glib.h>

/* The first MAX bytes of the file PATH below ROOT. NULL with errno set if it cannot be read. */
GBytes *rootfs_read(int root, const char *path, size_t max);
