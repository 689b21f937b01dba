/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Frames: each name that was met, once
 *
 * Names are other programs' words: what a terminal would obey is escaped.
 */

#include "clrsym/clrsym.h"
#include "index.h"
#include "settings.h"
#include "perf/stream.h"

/* Strings are the table's. */
typedef struct Frame {
        const char *name; /* printable; NULL: not known */
        const char
                *module; /* printable: a file's path, of managed code its name; NULL: not known */
        StreamKind kind;
        clrsym_tier tier;
        bool is_marked;
} Frame;

typedef struct FrameRow FrameRow;

typedef struct Frames {
        NameForm names;
        FrameRow *rows; /* owned */
        uint32_t n, n_rows;
        size_t n_bytes; /* of texts */
        Index by_symbol, by_body;
        uint32_t *recent; /* owned: by the addresses of perf's texts */
} Frames;

bool frames_init(Frames *frames, NameForm names);
void frames_deinit(Frames *frames);

/* SYMBOL and DSO may be NULL. INDEX_NONE if there is no memory. */
uint32_t frames_symbol(Frames *frames, StreamKind kind, const char *symbol, const char *dso);
/* A text that is no frame: the name of a thread, or of an event. */
uint32_t frames_text(Frames *frames, const char *text);
/* Of the answer's body; IMAGE, or NULL, is its module if the answer knows none. */
uint32_t frames_body(Frames *frames, const clrsym_answer *answer, const char *image,
                     bool is_marked);

/* Valid until the next one is made. */
Frame frames_get(const Frames *frames, uint32_t number);

/* So many that they should be forgotten when nothing refers to them. */
bool frames_is_full(const Frames *frames);
void frames_clear(Frames *frames);
