/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Mount device: the number by which the kernel names a file's file system where it lists mappings
 *
 * It is that of the mount in /proc/PID/mountinfo. stat() can have another one, for each layer of an
 * overlay and each subvolume of btrfs.
 */

#include <stdbool.h>
#include <stdint.h>

/*
 * The device of the mount that the open file FD is in, by our own mounts or those of process PID.
 * False: it is not known, as before Linux 5.8.
 */
bool mount_device_find(int fd, int32_t pid, uint32_t *ret_major, uint32_t *ret_minor);
