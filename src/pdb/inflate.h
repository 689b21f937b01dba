/* SPDX-License-Identifier: MIT */
#pragma once

/* Inflate: raw deflate data (RFC 1951) of a known size */

#include <stddef.h>
#include <stdint.h>

/* The maximum ratio of deflate. */
#define INFLATE_MAX_RATIO 1032u

/*
 * Unpacks the N_FROM bytes at FROM. Returns 0; -EBADMSG unless the result has exactly N_TO bytes;
 * or -ENOMEM.
 */
int inflate_exactly(const uint8_t *from, size_t n_from, uint8_t *to, size_t n_to);
/*
 * The same for N_FROM bytes at OFFSET of the file FD, with a buffer of 64 KiB. Returns pread()'s
 * error, too.
 */
int inflate_file(int fd, uint64_t offset, uint64_t n_from, uint8_t *to, size_t n_to);
