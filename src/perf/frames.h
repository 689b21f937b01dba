/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Frames: each name that was seen, once
 *
 * Names come from other programs: unprintable characters are escaped.
 */

#include "clrsym/clrsym.h"
#include "perf/hash-index.h"
#include "perf/named-kind.h"
#include "perf/settings.h"

/* The table owns the strings. */
typedef struct NamedFrame {
        const char *name; /* printable; NULL: not known */
        const char
                *module; /* printable: a file's path, for managed code its name; NULL: not known */
        NamedKind kind;
        clrsym_tier tier;
        bool is_marked;
        const char *file; /* printable: the source; NULL: the line is not known */
        uint32_t line;
        const char *checksum;   /* of the source, in hexadecimal digits; NULL: not known */
        clrsym_il_kind il_kind; /* with a line: of the code that has it */
} NamedFrame;

typedef struct FrameRow FrameRow;

typedef struct Frames {
        clrsym_style style;
        FrameRow *rows; /* owned */
        uint32_t n;
        size_t n_rows;
        size_t n_bytes; /* of texts */
        HashIndex by_symbol, by_body;
        uint32_t *recent; /* owned: by the addresses of perf's texts */
} Frames;

bool frames_init(Frames *frames, clrsym_style style);
void frames_deinit(Frames *frames);

/* SYMBOL and DSO may be NULL. INDEX_NONE if there is no memory. */
uint32_t frames_symbol(Frames *frames, NamedKind kind, const char *symbol, const char *dso);
/* A text that is not a frame: the name of a thread or an event. */
uint32_t frames_text(Frames *frames, const char *text);
/*
 * The frame of the answer's body; IMAGE, or NULL, is its module if the answer has none. LINE: of
 * the answer; NULL: not known.
 */
uint32_t frames_body(Frames *frames, const clrsym_answer *answer, const char *image, bool is_marked,
                     const clrsym_line *line);

/*
 * The frame of a method that was inlined into a body of TIER: its name is marked. LINE as above.
 */
uint32_t frames_inlined(Frames *frames, const clrsym_body *inlined, clrsym_tier tier,
                        const clrsym_line *line);

/* Valid until the next frame is made. */
NamedFrame frames_get(const Frames *frames, uint32_t number);

/* Are there so many that they should be cleared when nothing refers to them? */
bool frames_is_full(const Frames *frames);
void frames_clear(Frames *frames);
