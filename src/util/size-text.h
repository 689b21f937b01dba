/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Sizes in bytes, as people write them: 512K, 2G
 */

#include <stdbool.h>
#include <stdint.h>

/* A number, alone or followed by K, M, G or T (powers of 1024). False: not a number, or 0. */
bool size_from_text(const char *text, uint64_t *ret_bytes);

/* "16 MiB"; the caller frees it. */
char *size_to_text(uint64_t bytes);
