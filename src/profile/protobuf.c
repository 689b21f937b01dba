/* SPDX-License-Identifier: MIT */
#include "profile/protobuf.h"

typedef enum WireType {
        WIRE_VARINT = 0,
        WIRE_FIXED64 = 1,
        WIRE_BYTES = 2,
} WireType;

static void append_tag(GString *message, unsigned field, WireType type)
{
        pb_append_varint(message, field << 3 | type);
}

void pb_append_varint(GString *message, uint64_t value)
{
        for (; value >= 0x80; value >>= 7)
                g_string_append_c(message, (char)(value | 0x80));
        g_string_append_c(message, (char)value);
}

void pb_append_number(GString *message, unsigned field, uint64_t value)
{
        if (!value)
                return;
        append_tag(message, field, WIRE_VARINT);
        pb_append_varint(message, value);
}

void pb_append_fixed64(GString *message, unsigned field, uint64_t value)
{
        const uint64_t bytes = GUINT64_TO_LE(value);

        if (!value)
                return;
        append_tag(message, field, WIRE_FIXED64);
        g_string_append_len(message, (const char *)&bytes, sizeof(bytes));
}

void pb_append_bytes(GString *message, unsigned field, const char *bytes, size_t n)
{
        append_tag(message, field, WIRE_BYTES);
        pb_append_varint(message, n);
        g_string_append_len(message, bytes, (gssize)n);
}
