/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * PerfFeatures: what perf record notes about a recording besides its records
 *
 * Each feature is a section of the file, or a record of what was written to a pipe. The source of
 * the layouts is tools/perf/Documentation/perf.data-file-format.txt of Linux. What is shorter than
 * its numbers claim is left out.
 */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a feature, and build ids of files, at most. */
#define PERF_MAX_FEATURE   (64u << 20)
#define PERF_MAX_BUILD_IDS (1u << 18)

/* The number of a feature; others are not read. */
typedef enum PerfFeature {
        PERF_FEATURE_BUILD_ID = 2,
        PERF_FEATURE_ARCH = 6,
        PERF_FEATURE_EVENT_DESC = 12,
        PERF_FEATURE_CLOCK_DATA = 29,
        PERF_FEATURE_MAX = 256,
} PerfFeature;

typedef struct PerfBuildId {
        uint8_t n; /* 1 to 20 */
        uint8_t bytes[20];
} PerfBuildId;

/* A name that an event has been given. */
typedef struct PerfEventName {
        uint64_t id; /* of the event; 0: it has none, and its number counts */
        char *name;  /* owned */
} PerfEventName;

typedef struct PerfFeatures {
        /* One moment, by the time of day and by perf's clock, in ns. */
        bool has_reference;
        uint64_t reference_tod, reference_clock;
        GHashTable *build_ids; /* owned: path -> PerfBuildId, both owned: of files with samples */
        GArray *names;         /* owned, of PerfEventName */
        char *machine;         /* owned: as uname(2) has it; NULL: not noted, so a kind like ours */
} PerfFeatures;

void perf_features_init(PerfFeatures *features);
void perf_features_deinit(PerfFeatures *features);

/* Takes the N BYTES of the feature NUMBER; one that is not needed is ignored. */
void perf_features_take(PerfFeatures *features, unsigned number, const uint8_t *bytes, size_t n);
/* Takes the build id that a record of a pipe has, without its header; MISC is the header's. */
void perf_features_take_build_id(PerfFeatures *features, uint16_t misc, const uint8_t *bytes,
                                 size_t n);

/* "x86_64"; of a recording that does not note it, or of NULL, that of this program. */
const char *perf_features_machine(const PerfFeatures *features);
/* The build id of the file PATH; NULL: it is not known. */
const PerfBuildId *perf_features_build_id(const PerfFeatures *features, const char *path);
