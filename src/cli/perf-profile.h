/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A profile, made of the stream that perf's filter prints
 */

#include "perf/stream.h"
#include "profile/profile.h"

typedef struct PerfProfile {
        Profile *profile; /* owned */
        StreamReader *reader;
        GArray *frames; /* uint32_t: the profile's numbers, by the stream's */
        GArray *stack;  /* uint32_t: the frames of one sample */
} PerfProfile;

void perf_profile_init(PerfProfile *profile);
void perf_profile_deinit(PerfProfile *profile);

/* A PerfBytesFn; DATA is a PerfProfile. */
bool perf_profile_take(const char *bytes, size_t n, void *data);
