/* SPDX-License-Identifier: MIT */
#pragma once

/* Free space: the part of a file system that our bounded files leave to other programs */

#include <stdbool.h>
#include <stdint.h>

/* A tenth of the file system stays free, or at most this many bytes. */
#define FREE_SPACE_MOST_KEPT (UINT64_C(1) << 30)

/* True if N bytes more leave enough on the file system of the file FD. */
bool free_space_allows(int fd, uint64_t n);
