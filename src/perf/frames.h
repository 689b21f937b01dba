/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Frames: distinct names of frames, by number
 *
 * Names come from other programs: unprintable characters are escaped.
 */

#include "clrsym/clrsym.h"
#include "perf/hash-index.h"
#include "perf/named-kind.h"
#include "perf/settings.h"

/* The table owns the strings. */
typedef struct NamedFrame {
        const char *name;   /* printable; NULL: not known */
        const char *module; /* printable: a path, or an assembly's name; NULL: not known */
        NamedKind kind;
        clrsym_tier tier;
        bool is_marked;
        const char *file; /* printable: the source; NULL: the line is not known */
        uint32_t line;
        const char *checksum;   /* of the source, hexadecimal; NULL: not known */
        clrsym_il_kind il_kind; /* valid with a line: the kind of IL offset */
} NamedFrame;

typedef struct FrameRow FrameRow;

typedef struct Frames {
        clrsym_style style;
        FrameRow *rows; /* owned */
        uint32_t n;
        size_t n_rows;
        size_t n_bytes; /* bytes of texts */
        HashIndex by_symbol, by_body;
        uint32_t *recent; /* owned: numbers of frames, by the addresses of perf's texts */
} Frames;

bool frames_init(Frames *frames, clrsym_style style);
void frames_deinit(Frames *frames);

/* SYMBOL and DSO may be NULL. INDEX_NONE if there is no memory. */
uint32_t frames_symbol(Frames *frames, NamedKind kind, const char *symbol, const char *dso);
/* The number of a text other than a frame: the name of a thread or an event. INDEX_NONE: no memory.
 */
uint32_t frames_text(Frames *frames, const char *text);
/*
 * The frame of the answer's body. IMAGE: the module if the answer has none; or NULL. LINE: the
 * source line of the answer; NULL: not known.
 */
uint32_t frames_body(Frames *frames, const clrsym_answer *answer, const char *image, bool is_marked,
                     const clrsym_line *line);

/* The frame of a method inlined into a body of TIER; the name shows that. LINE as above. */
uint32_t frames_inlined(Frames *frames, const clrsym_body *inlined, clrsym_tier tier,
                        const clrsym_line *line);

/* Valid until the next frame is made. */
NamedFrame frames_get(const Frames *frames, uint32_t number);

/* True if the Frames should be cleared at the next point without references to them. */
bool frames_is_full(const Frames *frames);
void frames_clear(Frames *frames);
