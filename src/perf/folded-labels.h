/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Folded labels: what folded stacks call frames (see perf/folded-text.h)
 *
 * Frames of one label are one frame to readers.
 */

#include "perf/frames.h"

typedef struct FoldedLabels {
        bool is_annotated; /* _[j] after managed names, _[k] after the kernel's */
        char **texts;      /* owned: an array of owned texts */
        uint32_t n;
        size_t n_texts;
        uint32_t *of; /* owned: label by number of the frame; INDEX_NONE: it has none yet */
        size_t n_of;
        HashIndex index;
} FoldedLabels;

void folded_labels_deinit(FoldedLabels *labels);
/* Frames are numbered again from now on. */
void folded_labels_clear(FoldedLabels *labels);

/* The number of the label of a frame, or of a thread's name. INDEX_NONE: no memory. */
uint32_t folded_labels_frame(FoldedLabels *labels, const Frames *frames, uint32_t number);
uint32_t folded_labels_comm(FoldedLabels *labels, const Frames *frames, uint32_t number);

static inline const char *folded_labels_text(const FoldedLabels *labels, uint32_t label)
{
        return labels->texts[label];
}
