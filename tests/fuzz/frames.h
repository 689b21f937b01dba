/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Frames of the ingest protocol from an input: u8 type, u16 size, payload. Their lengths are right,
 * so that the input reaches the payloads. With RAW_FRAME the bytes stay as they are.
 */

#include "fuzz.h"
#include "wire/ingest.h"

#include <string.h>

#define RAW_FRAME 255

/* Appends the next frame. Returns its type. */
static inline uint8_t fuzz_take_frame(FuzzInput *input, GByteArray *out)
{
        uint8_t type = (uint8_t)fuzz_take(input, 1);
        FuzzInput payload = fuzz_take_part(input, fuzz_take(input, 2));

        if (type != RAW_FRAME) {
                const uint8_t header[INGEST_HEADER_SIZE] = {
                        (uint8_t)payload.n, (uint8_t)(payload.n >> 8), 0, 0, type, 0, 0, 0};

                g_byte_array_append(out, header, sizeof(header));
        }
        g_byte_array_append(out, payload.at, (guint)payload.n);
        return type;
}
