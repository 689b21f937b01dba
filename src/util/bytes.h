/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Little-endian numbers of bytes at any address; libc only
 */

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t bytes_u32(const uint8_t *bytes)
{
        uint32_t number;

        memcpy(&number, bytes, sizeof(number));
        return le32toh(number);
}

static inline uint64_t bytes_u64(const uint8_t *bytes)
{
        uint64_t number;

        memcpy(&number, bytes, sizeof(number));
        return le64toh(number);
}

static inline void bytes_put_u32(uint8_t *bytes, uint32_t number)
{
        number = htole32(number);
        memcpy(bytes, &number, sizeof(number));
}

/* The number of N bytes, 8 at most. */
static inline uint64_t bytes_number(const uint8_t *bytes, unsigned n)
{
        uint64_t number = 0;

        memcpy(&number, bytes, n);
        return le64toh(number);
}
