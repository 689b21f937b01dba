/* SPDX-License-Identifier: MIT */
#pragma once

/* Bundle file: writes the parts of a single-file program */

#include <glib.h>
#include <stdint.h>
#include <string.h>

/* Follows the address of the header. */
static const uint8_t BUNDLE_MARK[] = {0x8b, 0x12, 0x02, 0xb9, 0x6a, 0x61, 0x20, 0x38,
                                      0x72, 0x7b, 0x93, 0x02, 0x14, 0xd7, 0xa0, 0x32,
                                      0x13, 0xf5, 0xb9, 0xe6, 0xef, 0xae, 0x33, 0x18,
                                      0xee, 0x3b, 0x2d, 0xce, 0x24, 0xb3, 0x6a, 0xae};

static inline void bundle_put_u64(GByteArray *bytes, uint64_t value)
{
        const uint64_t little = GUINT64_TO_LE(value);

        g_byte_array_append(bytes, (const guint8 *)&little, sizeof(little));
}

static inline void bundle_put_u32(GByteArray *bytes, uint32_t value)
{
        const uint32_t little = GUINT32_TO_LE(value);

        g_byte_array_append(bytes, (const guint8 *)&little, sizeof(little));
}

static inline void bundle_put_text(GByteArray *bytes, const char *text)
{
        const guint8 n[] = {(guint8)(strlen(text) & 0x7f), (guint8)(strlen(text) >> 7)};

        if (n[1]) {
                const guint8 low = n[0] | 0x80;

                g_byte_array_append(bytes, &low, 1);
        }
        g_byte_array_append(bytes, n[1] ? &n[1] : &n[0], 1);
        g_byte_array_append(bytes, (const guint8 *)text, (guint)strlen(text));
}
