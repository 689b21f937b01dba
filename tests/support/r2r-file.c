/* SPDX-License-Identifier: MIT */
#include "support/r2r-file.h"

#include <string.h>

const R2RFunction IMAGE_FUNCTIONS[N_FUNCTIONS] = {
        {RVA(CODE), RVA(CODE + 0x10)},
        {RVA(CODE + 0x10), RVA(CODE + 0x11)},
        {RVA(CODE + 0x20), RVA(CODE + 0x80)},
        {RVA(CODE + 0x90), RVA(TEXT + N_TEXT)},
};

void image_put16(uint8_t *bytes, size_t at, uint16_t value)
{
        memcpy(bytes + at, &value, sizeof(value));
}

void image_put32(uint8_t *bytes, size_t at, uint32_t value)
{
        memcpy(bytes + at, &value, sizeof(value));
}

static void put_section(uint8_t *bytes, unsigned number, uint32_t rva, uint32_t at, uint32_t n,
                        uint32_t flags)
{
        size_t header = HEADERS + 40 * number;

        image_put32(bytes, header + 8, n);
        image_put32(bytes, header + 12, rva);
        image_put32(bytes, header + 16, n);
        image_put32(bytes, header + 20, at);
        image_put32(bytes, header + 36, flags);
}

void image_put_functions(uint8_t *bytes, const R2RFunction *functions, size_t n)
{
        size_t i;

        for (i = 0; i < n; i++) {
                image_put32(bytes, TABLE + i * 12, functions[i].begin);
                image_put32(bytes, TABLE + i * 12 + 4, functions[i].end);
        }
}

void image_build(uint8_t *bytes)
{
        memset(bytes, 0, N_IMAGE);
        memcpy(bytes, "MZ", 2);
        image_put32(bytes, 60, COFF);
        memcpy(bytes + COFF, "PE\0", 4);
        image_put16(bytes, COFF + 4, 0x8664 ^ 0x7b79);
        image_put16(bytes, COFF + 6, 2);
        image_put16(bytes, COFF + 20, N_OPTIONAL);
        image_put16(bytes, OPTIONAL, 0x20b);
        image_put32(bytes, OPTIONAL + 108, 16);
        image_put32(bytes, OPTIONAL + 112 + 14 * 8, RVA(CLR));
        image_put32(bytes, OPTIONAL + 112 + 14 * 8 + 4, 72);
        put_section(bytes, 0, TEXT_RVA, TEXT, N_TEXT, 0x60000020);
        put_section(bytes, 1, DATA_RVA, DATA, N_DATA, 0xc0000040);
        image_put32(bytes, CLR, 72);
        image_put32(bytes, CLR + 64, RVA(R2R));
        image_put32(bytes, R2R, 0x00525452);
        image_put32(bytes, R2R + 12, 2);
        image_put32(bytes, R2R + 16, 100);
        image_put32(bytes, R2R + 28, 102);
        image_put32(bytes, R2R + 32, RVA(TABLE));
        image_put32(bytes, R2R + 36, N_FUNCTIONS * 12);
        image_put_functions(bytes, IMAGE_FUNCTIONS, N_FUNCTIONS);
}
