/* SPDX-License-Identifier: MIT */
#include "util/hash.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>

uint64_t hash_seed[2];

__attribute__((constructor)) static void hash_draw_seed(void)
{
        struct timespec now;

        /* Fails only before the kernel has entropy, or if the call is forbidden. */
        if (getrandom(hash_seed, sizeof(hash_seed), GRND_NONBLOCK) == sizeof(hash_seed))
                return;
        clock_gettime(CLOCK_MONOTONIC, &now);
        hash_seed[0] = (uint64_t)now.tv_nsec << 32 ^ (uint64_t)(uintptr_t)&now;
        hash_seed[1] = (uint64_t)now.tv_sec * UINT64_C(0x9e3779b97f4a7c15) ^ hash_seed[0];
}

static inline uint64_t rotate(uint64_t value, unsigned n)
{
        return value << n | value >> (64 - n);
}

static inline void sip_round(uint64_t v[4])
{
        v[0] += v[1];
        v[1] = rotate(v[1], 13) ^ v[0];
        v[0] = rotate(v[0], 32);
        v[2] += v[3];
        v[3] = rotate(v[3], 16) ^ v[2];
        v[0] += v[3];
        v[3] = rotate(v[3], 21) ^ v[0];
        v[2] += v[1];
        v[1] = rotate(v[1], 17) ^ v[2];
        v[2] = rotate(v[2], 32);
}

uint64_t hash_bytes(const void *bytes, size_t n)
{
        const uint8_t *p = bytes;
        uint64_t v[4] = {hash_seed[0] ^ UINT64_C(0x736f6d6570736575),
                         hash_seed[1] ^ UINT64_C(0x646f72616e646f6d),
                         hash_seed[0] ^ UINT64_C(0x6c7967656e657261),
                         hash_seed[1] ^ UINT64_C(0x7465646279746573)};
        uint64_t last = (uint64_t)n << 56, word;
        size_t i;

        for (i = 0; i + 8 <= n; i += 8) {
                memcpy(&word, p + i, sizeof(word));
                v[3] ^= word;
                sip_round(v);
                v[0] ^= word;
        }
        word = 0;
        if (i < n)
                memcpy(&word, p + i, n - i);
        last |= word;
        v[3] ^= last;
        sip_round(v);
        v[0] ^= last;
        v[2] ^= 0xff;
        sip_round(v);
        sip_round(v);
        sip_round(v);
        return v[0] ^ v[1] ^ v[2] ^ v[3];
}

guint hash_u64_key(gconstpointer key)
{
        return (guint)(hash_u64(*(const uint64_t *)key) >> 32);
}

guint hash_number_key(gconstpointer key)
{
        return (guint)(hash_u64((uint64_t)(uintptr_t)key) >> 32);
}
