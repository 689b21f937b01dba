/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Profile of a stream: what perf's filter prints, kept to be written in another form
 */

#include "perf/stream.h"
#include "profile/profile.h"

typedef struct PerfProfile {
        Profile *profile; /* owned */
        StreamReader *reader;
        GArray *frames; /* uint32_t: of the stream's frames, the profile's numbers */
        GArray *stack;  /* uint32_t: those of one sample */
} PerfProfile;

void perf_profile_init(PerfProfile *profile);
void perf_profile_deinit(PerfProfile *profile);

/* A PerfBytesFn; DATA is a PerfProfile. */
bool perf_profile_take(const char *bytes, size_t n, void *data);
