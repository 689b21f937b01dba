/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Change: the difference between a node's share of the samples and its share before
 *
 * Two recordings of one program also differ by chance. A difference of less than two standard
 * errors is shown as none.
 */

#include "profile/calltree.h"

#define CHANGE_STEPS 4

typedef struct Changes {
        const CallTree *tree; /* borrowed */
        double largest; /* the largest difference of a node below the root, without its sign */
        double seconds, seconds_before; /* seconds of a sample, see change_seconds() */
} Changes;

/* EVENT: see ProfileOptions. */
void changes_init(Changes *changes, const CallTree *tree, const char *event);

/* The average time of a sample: after, and before. Both are 0 if EVENT does not count time. */
void change_seconds(const Profile *profile, const char *event, double *ret_seconds,
                    double *ret_before);

/* From -CHANGE_STEPS, much less than before, to CHANGE_STEPS; 0: equal, or not certain. */
int change_step(const Changes *changes, uint32_t number);

/* "#rrggbb", light enough for black text. */
const char *change_colour(int step);
/* For the legend. */
const char *change_label(int step);

/* Appends "before 12 (3.4 %), itself 5 (1.4 %): +2.10 points, itself +0.30"; where a sample stands
 * for a time, "before 12 (3.4 %, 0.12 s), itself 5 (1.4 %, 0.05 s): ..., now 0.20 s, itself
 * 0.10 s". */
void change_append(GString *out, const Changes *changes, uint32_t number);
