/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Hash: functions for tables with keys that a traced program or a client chooses
 *
 * All use random numbers of each start of the program, so that nobody can prepare keys that
 * collide.
 */

#include <glib.h>
#include <stddef.h>
#include <stdint.h>

/* Drawn before main(). */
extern uint64_t hash_seed[2];

/* All bits are well mixed; tables use the upper ones. */
static inline uint64_t hash_u64(uint64_t key)
{
        key = (key ^ hash_seed[0]) * UINT64_C(0x9e3779b97f4a7c15);
        key ^= key >> 32;
        return (key ^ hash_seed[1]) * UINT64_C(0xd6e8feb86659fd93);
}

/* SipHash-1-3. Simpler sums of words have sets of texts that collide with every seed. */
uint64_t hash_bytes(const void *bytes, size_t n);

/* For GHashTables with pointers to a uint64_t, or with numbers, as keys. */
guint hash_u64_key(gconstpointer key);
guint hash_number_key(gconstpointer key);
