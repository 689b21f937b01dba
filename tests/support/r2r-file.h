/* SPDX-License-Identifier: MIT */
#pragma once

/* A precompiled image built in memory: four functions, and all tables on a reader's way to them */

#include "perf/r2r-image.h"

#include <stddef.h>
#include <stdint.h>

/* Offsets of the image's parts in the file. */
enum {
        COFF = 0x80,
        OPTIONAL = COFF + 24,
        N_OPTIONAL = 240,
        HEADERS = OPTIONAL + N_OPTIONAL,
        TEXT = 0x200,
        N_TEXT = 0x600,
        DATA = TEXT + N_TEXT,
        N_DATA = 0x200,
        N_IMAGE = DATA + N_DATA,
        CLR = TEXT,
        R2R = TEXT + 0x50,
        TABLE = TEXT + 0x100,
        CODE = TEXT + 0x200,
        /* addresses once mapped */
        TEXT_RVA = 0x10000 + TEXT,
        DATA_RVA = 0x20000 + DATA,
};

/* The RVA of offset AT in the first section, which has the code. */
#define RVA(at) ((uint32_t)((at)-TEXT + TEXT_RVA))

enum {
        N_FUNCTIONS = 4,
};

extern const R2RFunction IMAGE_FUNCTIONS[N_FUNCTIONS];

/* Writes N_IMAGE bytes. */
void image_build(uint8_t *bytes);

void image_put16(uint8_t *bytes, size_t at, uint16_t value);
void image_put32(uint8_t *bytes, size_t at, uint32_t value);
void image_put_functions(uint8_t *bytes, const R2RFunction *functions, size_t n);
