/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Gzip: packs bytes on their way to a file (RFC 1952), by zlib
 */

#include <stdbool.h>
#include <stddef.h>

/* The first two bytes of a packed file. */
#define GZIP_MAGIC "\x1f\x8b"
/* To be added to zlib's MAX_WBITS, for the head and the end of gzip. */
#define GZIP_BITS 16

typedef struct Gzip Gzip;

/* Takes N packed bytes. False: they cannot be written. The caller keeps the reason. */
typedef bool (*GzipWriteFn)(void *data, const void *bytes, size_t n);

/* LEVEL: 1 (fast) to 9 (small), or -1 for zlib's own choice. */
Gzip *gzip_new(int level, GzipWriteFn write, void *data);
/* NULL is fine. */
void gzip_free(Gzip *gzip);

/* False: WRITE failed. Then no other call may follow. */
bool gzip_add(Gzip *gzip, const void *bytes, size_t n);
/* The same for the rest. No other call may follow. */
bool gzip_finish(Gzip *gzip);
