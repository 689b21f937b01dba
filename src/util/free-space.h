/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Free space: what files of bounded use leave of their file system to other programs
 */

#include <stdbool.h>
#include <stdint.h>

/* A tenth of the file system stays free, or so many bytes. */
#define FREE_SPACE_MOST_KEPT (UINT64_C(1) << 30)

/* Whether N bytes more leave that, on the file system of the file FD. */
bool free_space_allows(int fd, uint64_t n);
