/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Labels: what folded stacks call frames
 *
 * Readers split a line at each semicolon and take a number after the last space as the count, some
 * also a second one before it; some leave out lines that begin with '#'. So no label has a
 * semicolon, begins with a space, or ends with one or with one and a number. Frames of one label
 * are one to them.
 */

#include "frames.h"

typedef struct Labels {
        bool is_annotated; /* _[j] behind managed names, _[k] behind the kernel's */
        char **texts;      /* owned: rows, texts owned */
        uint32_t n, n_texts;
        uint32_t *of; /* owned: by number of a frame; INDEX_NONE: none yet */
        size_t n_of;
        Index index;
} Labels;

void labels_deinit(Labels *labels);
/* The numbers of frames stand for others from now on. */
void labels_clear(Labels *labels);

/* Number of the label of a frame, or of a thread's name. INDEX_NONE if there is no memory. */
uint32_t labels_frame(Labels *labels, const Frames *frames, uint32_t number);
uint32_t labels_comm(Labels *labels, const Frames *frames, uint32_t number);

static inline const char *labels_text(const Labels *labels, uint32_t label)
{
        return labels->texts[label];
}
