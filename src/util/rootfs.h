/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Rootfs: files in the root directory of another process
 *
 * Symbolic links are followed inside that root. The process decides which files are there, so only
 * regular files are ever opened for reading.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The root directory of a process; PID 0: our own. If the process has ended, the one that was kept.
 * -1 with errno set. */
int rootfs_open_root(pid_t pid);

/* A duplicate of the process's descriptor in kept-roots.h; -1: none. NULL in a program that keeps
 * none, so that libclrsym has no variables. */
int kept_roots_open(pid_t pid) __attribute__((weak, visibility("hidden")));

/* Opens PATH below ROOT with open(2) FLAGS; O_CLOEXEC is added. -1 with errno set. */
int rootfs_open(int root, const char *path, uint64_t flags);
/* Opens a regular file to read. -1 with errno set: EINVAL if it is something else. */
int rootfs_open_file(int root, const char *path);

/*
 * Every file that a process chose is opened by the functions below or by rootfs_open_file().
 * Opening a device or a pipe can have an effect, and a path can lead elsewhere at any time. So the
 * file is first found, by open(2)'s O_PATH, which opens nothing; then compared with the expected
 * one; then that very file is opened.
 */

/* Finds PATH below ROOT. -1 with errno set. */
int rootfs_find(int root, const char *path);
/* Finds the target of a kernel link in /proc, such as /proc/PID/exe. */
int rootfs_find_linked(const char *path);
/* Opens a found file for reading. -1 with errno set: EINVAL if it is not a regular file. */
int rootfs_open_found(int found);
/* Opens the program that a process runs. */
int rootfs_open_program(pid_t pid);

/* Is PATH, below ROOT, a socket? */
bool rootfs_is_socket(int root, const char *path);
