/* SPDX-License-Identifier: MIT */
#pragma once

/* Summary: the totals of a profile; and numbers for people */

#include "profile/data.h"

typedef struct Summary {
        uint64_t n_samples;
        uint64_t n_before;      /* samples for comparison, which count nowhere else here */
        uint64_t period_before; /* of those */
        uint64_t first;         /* time of the first, or 0 */
        uint64_t duration;      /* ns from the first sample to the last */
        uint64_t period;        /* sum */
        uint64_t n_threads;
} Summary;

void summary_init(Summary *summary, const Profile *profile);

/* "12,345 samples of cpu-clock (12.35 s) in 3 threads, over 5.01 s" */
void summary_append(GString *out, const Summary *summary, const ProfileOptions *options);

/* "1,234,567" */
void number_append(GString *out, uint64_t number);
/* "12.3 %"; 0 % if WHOLE is 0. */
void number_append_share(GString *out, uint64_t part, uint64_t whole);
/* "3.21 s", "45.6 ms", "789 ns" */
void number_append_duration(GString *out, uint64_t ns);
