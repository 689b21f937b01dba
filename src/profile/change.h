/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Change: how much a node's share of the samples differs from its share before
 *
 * Two recordings of the same program differ by chance, too. A difference that is below two standard
 * errors is shown as none.
 */

#include "profile/calltree.h"

#define CHANGE_STEPS 4

typedef struct Changes {
        const CallTree *tree; /* borrowed */
        double largest;       /* difference of any node below the root, without its sign */
} Changes;

void changes_init(Changes *changes, const CallTree *tree);

/* From -CHANGE_STEPS, much less than before, to CHANGE_STEPS; 0: the same, or not certain. */
int change_step(const Changes *changes, uint32_t number);

/* "#rrggbb", light enough for black text. */
const char *change_colour(int step);
/* For the legend. */
const char *change_label(int step);

/* Appends "before 12 samples (3.4 %), itself 5 (1.4 %): +2.10 points, itself +0.30". */
void change_append(GString *out, const Changes *changes, uint32_t number);
