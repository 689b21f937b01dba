/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Spill: a queue of blocks of bytes in a file without a name, of bounded size
 *
 * For data that must wait and is too much for memory. The file is made with the first block, in
 * $TMPDIR or /var/tmp, and truncated when the last block is taken. The file vanishes with the
 * process. If a block cannot be written, it stays with the caller, and nothing else is lost; the
 * caller can retry later.
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

/* Appends a block. TAG is any number. 0; -ENOBUFS: more than MAX; -ENOSPC: the file system is
 * nearly full; or the errno of the write. */
int spill_put(Spill *spill, const uint8_t *bytes, size_t n, uint64_t tag);
/* Moves the oldest block, which must exist, to the end of OUT. 0; negative errno: the block cannot
 * be read and is lost. RET_TAG is set in both cases. */
int spill_take(Spill *spill, GByteArray *out, uint64_t *ret_tag);

bool spill_is_empty(const Spill *spill);
/* The sum of all blocks. */
uint64_t spill_n_bytes(const Spill *spill);
