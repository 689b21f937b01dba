/* SPDX-License-Identifier: MIT */
#include "pdb/sha256.h"

#include <endian.h>
#include <string.h>

/* The first 32 bits of the fractions of the cube roots of the first 64 primes. */
static const uint32_t ROUNDS[64] = {
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
        0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
        0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
        0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
        0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
        0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
        0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
        0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
        0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
        0xc67178f2,
};

static uint32_t rotate(uint32_t x, unsigned n)
{
        return x >> n | x << (32 - n);
}

static void sha256_block(Sha256 *hash, const uint8_t *block)
{
        uint32_t w[64], s[8], a, b;
        unsigned i;

        for (i = 0; i < 16; i++) {
                memcpy(&w[i], block + 4 * i, 4);
                w[i] = be32toh(w[i]);
        }
        for (; i < 64; i++)
                w[i] = w[i - 16] + w[i - 7] +
                       (rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3) +
                       (rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10);
        memcpy(s, hash->state, sizeof(s));
        for (i = 0; i < 64; i++) {
                a = s[7] + (rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25)) +
                    ((s[4] & s[5]) ^ (~s[4] & s[6])) + ROUNDS[i] + w[i];
                b = (rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22)) +
                    ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
                memmove(s + 1, s, 7 * sizeof(*s));
                s[4] += a;
                s[0] = a + b;
        }
        for (i = 0; i < 8; i++)
                hash->state[i] += s[i];
}

void sha256_init(Sha256 *hash)
{
        *hash = (Sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                                   0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void sha256_add(Sha256 *hash, const void *bytes, size_t n)
{
        const uint8_t *at = bytes;
        size_t n_block = hash->n % 64;

        hash->n += n;
        while (n) {
                size_t n_part = n < 64 - n_block ? n : 64 - n_block;

                if (n_part == 64) {
                        sha256_block(hash, at);
                } else {
                        memcpy(hash->block + n_block, at, n_part);
                        if (n_block + n_part == 64)
                                sha256_block(hash, hash->block);
                }
                n_block = (n_block + n_part) % 64;
                at += n_part;
                n -= n_part;
        }
}

void sha256_finish(Sha256 *hash, uint8_t ret_digest[SHA256_SIZE])
{
        uint64_t n_bits = htobe64(hash->n * 8);
        uint8_t padding[64] = {0x80};
        uint32_t word;
        unsigned i;

        sha256_add(hash, padding, 1 + (119 - hash->n % 64) % 64);
        sha256_add(hash, &n_bits, sizeof(n_bits));
        for (i = 0; i < 8; i++) {
                word = htobe32(hash->state[i]);
                memcpy(ret_digest + 4 * i, &word, 4);
        }
}
