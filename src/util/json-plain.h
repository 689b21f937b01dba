/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * JSON plain: the length of the start of a JSON string that needs no check of each byte
 *
 * Plain C, without GLib, because the client library is built from it, too.
 */

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Bytes at the start of TEXT, of N bytes, that are printable ASCII without quotes and backslashes;
 * at the end of TEXT up to 7 fewer. */
static inline size_t json_plain_start(const char *text, size_t n)
{
        const uint64_t ones = UINT64_MAX / 0xff, upper = ones << 7;
        size_t i;

        for (i = 0; i + sizeof(uint64_t) <= n; i += sizeof(uint64_t)) {
                uint64_t word, quote, backslash, others;

                memcpy(&word, text + i, sizeof(word));
                word = le64toh(word);
                /* The upper bit is set of the first byte that is less than the subtracted one, and
                 * perhaps of later bytes. */
                quote = (word ^ ones * '"') - ones;
                backslash = (word ^ ones * '\\') - ones;
                others = word | (word - ones * ' ') | (word + ones);
                word = (quote | backslash | others) & upper;
                if (word)
                        return i + (size_t)__builtin_ctzll(word) / 8;
        }
        return i;
}
