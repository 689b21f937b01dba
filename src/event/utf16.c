/* SPDX-License-Identifier: MIT */
#include "event/decode.h"

#include "util/utf8.h"

#include <string.h>

enum {
        REPLACEMENT = 0xfffd,
};

static uint8_t *put_utf8(uint8_t *out, uint32_t c)
{
        if (c < 0x80) {
                *out++ = (uint8_t)c;
        } else if (c < 0x800) {
                *out++ = (uint8_t)(0xc0 | c >> 6);
                *out++ = (uint8_t)(0x80 | (c & 0x3f));
        } else if (c < 0x10000) {
                *out++ = (uint8_t)(0xe0 | c >> 12);
                *out++ = (uint8_t)(0x80 | (c >> 6 & 0x3f));
                *out++ = (uint8_t)(0x80 | (c & 0x3f));
        } else {
                *out++ = (uint8_t)(0xf0 | c >> 18);
                *out++ = (uint8_t)(0x80 | (c >> 12 & 0x3f));
                *out++ = (uint8_t)(0x80 | (c >> 6 & 0x3f));
                *out++ = (uint8_t)(0x80 | (c & 0x3f));
        }
        return out;
}

static uint32_t unit_at(const uint8_t *in, size_t i)
{
        return (uint32_t)(in[2 * i] | in[2 * i + 1] << 8);
}

/* True if four units are ASCII. */
static bool is_ascii(const uint8_t *in)
{
        uint64_t units;

        memcpy(&units, in, sizeof(units));
        return !(GUINT64_FROM_LE(units) & UINT64_C(0xff80ff80ff80ff80));
}

enum { GROUP = 8 };
typedef uint16_t GroupUnits __attribute__((vector_size(GROUP * sizeof(uint16_t))));
typedef uint8_t GroupBytes __attribute__((vector_size(GROUP)));

/* The number of lanes at the start that are 0. */
static inline size_t group_n_zero(GroupUnits lanes)
{
        uint64_t halves[sizeof(lanes) / sizeof(uint64_t)];

        memcpy(halves, &lanes, sizeof(halves));
        if (halves[0])
                return (size_t)__builtin_ctzll(halves[0]) / 16;
        return halves[1] ? GROUP / 2 + (size_t)__builtin_ctzll(halves[1]) / 16 : GROUP;
}

size_t utf16le_ascii_to_utf8(const uint8_t *in, size_t n_units, uint8_t *out)
{
        size_t i = 0;

        for (; G_BYTE_ORDER == G_LITTLE_ENDIAN && i + GROUP <= n_units; i += GROUP) {
                GroupUnits units;
                GroupBytes bytes;
                size_t n;

                memcpy(&units, in + 2 * i, sizeof(units));
                bytes = __builtin_convertvector(units, GroupBytes);
                memcpy(out + i, &bytes, sizeof(bytes));
                /* NUL less one has all bits. */
                n = group_n_zero((units | (units - 1)) & 0xff80);
                if (n < GROUP)
                        return i + n;
        }
        for (; i < n_units && !in[2 * i + 1] && in[2 * i] && in[2 * i] < 0x80; i++)
                out[i] = in[2 * i];
        return i;
}

size_t utf16le_to_utf8(const uint8_t *in, size_t n_units, uint8_t *out)
{
        uint8_t *begin = out;
        size_t i = 0;

        while (i < n_units) {
                uint32_t c;

                /* Nearly all names are ASCII: four units at a time while they are. */
                for (; i + 4 <= n_units && is_ascii(in + 2 * i); i += 4) {
                        *out++ = in[2 * i];
                        *out++ = in[2 * i + 2];
                        *out++ = in[2 * i + 4];
                        *out++ = in[2 * i + 6];
                }
                if (i == n_units)
                        break;
                c = unit_at(in, i++);
                if (c < 0x80) {
                        *out++ = (uint8_t)c;
                        continue;
                }
                if (c >= 0xd800 && c < 0xe000) {
                        uint32_t low = i < n_units ? unit_at(in, i) : 0;

                        if (c < 0xdc00 && low >= 0xdc00 && low < 0xe000) {
                                c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
                                i++;
                        } else {
                                c = REPLACEMENT;
                        }
                }
                out = put_utf8(out, c);
        }
        return (size_t)(out - begin);
}

size_t utf8_make_valid(const uint8_t *in, size_t n, uint8_t *out)
{
        uint8_t *begin = out;
        size_t i = 0;

        while (i < n) {
                uint32_t c;
                uint64_t word;
                size_t size;

                /* Nearly all texts are ASCII: eight bytes at a time while they are. */
                for (; i + sizeof(word) <= n; i += sizeof(word), out += sizeof(word)) {
                        memcpy(&word, in + i, sizeof(word));
                        if (word & UINT64_C(0x8080808080808080))
                                break;
                        memcpy(out, &word, sizeof(word));
                }
                if (i == n)
                        break;
                size = utf8_sequence(in + i, n - i, &c);
                if (size == 1) {
                        *out++ = in[i++];
                } else if (size > 1) {
                        memcpy(out, in + i, size);
                        out += size;
                        i += size;
                } else {
                        out = put_utf8(out, REPLACEMENT);
                        i++;
                }
        }
        return (size_t)(out - begin);
}
