/* SPDX-License-Identifier: MIT */
#pragma once

#include "profile/data.h"

/* Samples of one thread with one stack. */
typedef struct SampleSum {
        uint32_t node, thread;
        uint64_t n_samples, period;
} SampleSum;

/* All samples of PROFILE, of SampleSum. */
GArray *sample_sums_new(const Profile *profile);
