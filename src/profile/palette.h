/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Palette: the graphs' colours, by who made the code of a frame
 */

#include "profile/data.h"

typedef enum Colour {
        COLOUR_OPTIMIZED,
        COLOUR_OSR,
        COLOUR_INSTRUMENTED,
        COLOUR_QUICK,
        COLOUR_PRECOMPILED,
        COLOUR_MANAGED, /* tier not known */
        COLOUR_NATIVE,
        COLOUR_KERNEL,
        COLOUR_UNKNOWN,
        COLOUR_COMM,
        _COLOUR_MAX,
} Colour;

typedef struct PaletteEntry {
        const char *label; /* for the legend */
        const char *rgb;   /* "#rrggbb", light enough for black text */
} PaletteEntry;

extern const PaletteEntry PALETTE[_COLOUR_MAX];

Colour frame_colour(const Frame *frame);

/* What a kind is called. */
const char *frame_kind_word(FrameKind kind);

/* One of three shades, by the name: so that neighbours differ, and one method is always the same.
 */
unsigned frame_shade(const Frame *frame);
