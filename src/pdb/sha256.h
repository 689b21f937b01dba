/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * SHA-256 (FIPS 180-4), for the checksums of PDBs. libclrsym links neither GLib nor a crypto
 * library.
 */

#include <stddef.h>
#include <stdint.h>

#define SHA256_SIZE 32

typedef struct Sha256 {
        uint32_t state[8];
        uint64_t n; /* bytes so far */
        uint8_t block[64];
} Sha256;

void sha256_init(Sha256 *hash);
void sha256_add(Sha256 *hash, const void *bytes, size_t n);
void sha256_finish(Sha256 *hash, uint8_t ret_digest[SHA256_SIZE]);
