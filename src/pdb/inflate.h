/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Inflate: raw deflate data (RFC 1951) of a size that is known before
 */

#include <stddef.h>
#include <stdint.h>

/* Deflate makes no more of a byte. */
#define INFLATE_MAX_RATIO 1032u

/* Unpacks the N_FROM bytes at FROM. Exactly N_TO bytes have to come out: -EBADMSG; -ENOMEM. */
int inflate_exactly(const uint8_t *from, size_t n_from, uint8_t *to, size_t n_to);
/* The same of N_FROM bytes at OFFSET of the file FD, of which it keeps 64 KiB. Or pread()'s error.
 */
int inflate_file(int fd, uint64_t offset, uint64_t n_from, uint8_t *to, size_t n_to);
