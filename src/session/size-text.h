/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Sizes in bytes, as people write them: 512K, 2G
 */

#include <stdbool.h>
#include <stdint.h>

/* A number with nothing, K, M, G or T behind it (powers of 1024). False: it is none, or 0. */
bool size_from_text(const char *text, uint64_t *ret_bytes);

/* "16 MiB", newly allocated. */
char *size_to_text(uint64_t bytes);
