/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Folded labels: the names of frames in folded stacks (see perf/folded-text.h)
 *
 * Readers merge frames with the same label.
 */

#include "perf/frames.h"

typedef struct FoldedLabels {
        bool is_annotated; /* append _[j] to managed names, _[k] to kernel names */
        char **texts;      /* owned: an array of owned texts */
        uint32_t n;
        size_t n_texts;
        uint32_t *of; /* owned: label by number of the frame; INDEX_NONE: no label yet */
        size_t n_of;
        HashIndex index;
} FoldedLabels;

void folded_labels_deinit(FoldedLabels *labels);
/* Call this when the Frames are cleared, because numbers start again. */
void folded_labels_clear(FoldedLabels *labels);

/* The number of the label of a frame or a thread's name. INDEX_NONE: no memory. */
uint32_t folded_labels_frame(FoldedLabels *labels, const Frames *frames, uint32_t number);
uint32_t folded_labels_comm(FoldedLabels *labels, const Frames *frames, uint32_t number);

static inline const char *folded_labels_text(const FoldedLabels *labels, uint32_t label)
{
        return labels->texts[label];
}
