/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Spill: a queue of blocks of bytes in a file without a name, of bounded size
 *
 * For what has to wait and is too much for memory. The file is made when the first block comes, in
 * $TMPDIR or /var/tmp, and is cut to nothing when the last block is taken. Nothing of it outlives
 * the process. When something cannot be written, nothing is lost but that block, which stays with
 * the caller; more can be tried later.
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct Spill Spill;

/* MAX bytes of blocks at most, in a file of that size. */
Spill *spill_new(uint64_t max);
/* NULL is fine. */
void spill_free(Spill *spill);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Spill, spill_free)

/* Appends a block. TAG is any number. 0, -ENOBUFS if it would be more than MAX, -ENOSPC if
 * the file system is nearly full, or why it cannot be written. */
int spill_put(Spill *spill, const uint8_t *bytes, size_t n, uint64_t tag);
/*
 * Moves the oldest block, which must exist, to the end of OUT. 0; else it cannot be read and is
 * lost: negative errno. RET_TAG is set in both cases.
 */
int spill_take(Spill *spill, GByteArray *out, uint64_t *ret_tag);

bool spill_is_empty(const Spill *spill);
/* The sum of all blocks. */
uint64_t spill_n_bytes(const Spill *spill);
