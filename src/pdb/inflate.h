/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Inflate: raw deflate data (RFC 1951) of a size that is known before
 */

#include <stddef.h>
#include <stdint.h>

/* Unpacks the N_FROM bytes at FROM. Exactly N_TO bytes have to come out: -EBADMSG; -ENOMEM. */
int inflate_exactly(const uint8_t *from, size_t n_from, uint8_t *to, size_t n_to);
