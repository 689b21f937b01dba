/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * PerfFeatures: perf record's notes about a recording
 *
 * Each feature is a section of the file, or a record of a recording through a pipe. The source of
 * the layouts is tools/perf/Documentation/perf.data-file-format.txt of Linux. Truncated parts of a
 * feature are ignored.
 */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limits: bytes of a feature, and build ids. */
#define PERF_MAX_FEATURE   (64u << 20)
#define PERF_MAX_BUILD_IDS (1u << 18)

/* Numbers of the features that are read. */
typedef enum PerfFeature {
        PERF_FEATURE_BUILD_ID = 2,
        PERF_FEATURE_ARCH = 6,
        PERF_FEATURE_EVENT_DESC = 12,
        PERF_FEATURE_CLOCK_DATA = 29,
        PERF_FEATURE_MAX = 256,
} PerfFeature;

typedef struct PerfBuildId {
        uint8_t n; /* 1 to 20; 0: files with several build ids were at the path */
        uint8_t bytes[20];
} PerfBuildId;

/* perf's name of an event. */
typedef struct PerfEventName {
        uint64_t id; /* id of the event; 0: none, the index identifies the event */
        char *name;  /* owned */
} PerfEventName;

/* One moment by the time of day and by perf's clock, in ns since their zero points. */
typedef struct PerfReference {
        bool is_known; /* false: both are 0 */
        uint64_t tod, clock;
} PerfReference;

typedef struct PerfFeatures {
        PerfReference reference;
        GHashTable *build_ids; /* owned: path -> PerfBuildId, both owned; the files with samples */
        GArray *names;         /* owned, of PerfEventName */
        char *machine;         /* owned: machine of uname(2); NULL: not recorded */
} PerfFeatures;

/* ZERO: the time of day, in ns, when the clock showed 0. */
PerfReference perf_reference_new(uint64_t clock, int64_t zero);
/* The time of day, in ns, of TIME of perf's clock; at least that of the reference. */
uint64_t perf_reference_time_of_day(const PerfReference *reference, uint64_t time);
/* The time of day, in ns, when perf's clock showed 0. */
int64_t perf_reference_zero(const PerfReference *reference);

void perf_features_init(PerfFeatures *features);
void perf_features_deinit(PerfFeatures *features);

/* Takes the feature NUMBER, of N BYTES; ignores features that are not read. */
void perf_features_take(PerfFeatures *features, unsigned number, const uint8_t *bytes, size_t n);
/* Takes a record with a build id, without its header; MISC is the header's. */
void perf_features_take_build_id(PerfFeatures *features, uint16_t misc, const uint8_t *bytes,
                                 size_t n);

/* "x86_64". If the recording does not have it, or FEATURES is NULL: this program's machine. */
const char *perf_features_machine(const PerfFeatures *features);
/* The build id of the file PATH; NULL: not known, or files with several build ids were there. */
const PerfBuildId *perf_features_build_id(const PerfFeatures *features, const char *path);
