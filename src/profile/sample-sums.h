/* SPDX-License-Identifier: MIT */
#pragma once

#include "profile/data.h"

/* The number of samples of one thread with one stack. */
typedef struct SampleSum {
        uint32_t node, thread;
        uint64_t n_samples, period;
} SampleSum;

/* Sums of all samples of PROFILE, of SampleSum. */
GArray *sample_sums_new(const Profile *profile);
