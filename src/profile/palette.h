/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Palette: the graphs' colours, by the kind and tier of a frame's code; and their legend
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
        COLOUR_SESSION,
        COLOUR_COMM,
        _COLOUR_MAX,
} Colour;

typedef struct PaletteEntry {
        const char *label; /* for the legend */
        const char *rgb;   /* "#rrggbb", light enough for black text */
} PaletteEntry;

extern const PaletteEntry PALETTE[_COLOUR_MAX];

Colour frame_colour(const Frame *frame);

/* The name of a kind, for people. */
const char *frame_kind_word(FrameKind kind);

/* One of three shades, by the name, so that neighbours differ, and a method always has the same
 * shade. */
unsigned frame_shade(const Frame *frame);

/* The legend of a graph: its colours, with the number of samples that ended in each. */
typedef struct LegendEntry {
        bool is_shown;
        uint64_t self;
} LegendEntry;

typedef struct Legend {
        LegendEntry entries[_COLOUR_MAX];
        bool has_marked;
} Legend;

void legend_init(Legend *legend, const Profile *profile);
