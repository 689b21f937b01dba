/* SPDX-License-Identifier: MIT */
#pragma once

/* Rootfs read: a part of a file, in the root directory of another process */

#include <glib.h>

/* The first MAX bytes of the file PATH below ROOT. NULL with errno set if it cannot be read. */
GBytes *rootfs_read(int root, const char *path, size_t max);
