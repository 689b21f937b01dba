/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Recording: the facts about a perf.data that are needed to name its frames
 *
 * They come from perf script's header and events, and from the survey of clrsym's filter.
 */

#include "cli/debug-files.h"
#include "perf/mapping.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define RECORDING_OWN_CLOCK (-1)

typedef struct RecordingAddress {
        uint64_t address, time;
} RecordingAddress;

typedef struct RecordingProcess {
        int32_t pid; /* in perf's pid namespace */
        char *comm;
        uint64_t n_samples;
        uint64_t first, last; /* times of samples */
        bool has_pid_ns;
        uint64_t pid_ns;
        GArray *addresses; /* RecordingAddress: of possibly managed code */
} RecordingProcess;

typedef struct RecordingEvent {
        char *name;
        uint64_t n_samples;
} RecordingEvent;

typedef struct Recording {
        int clock_id; /* of CLOCK_*, or RECORDING_OWN_CLOCK */
        char *clock_name;
        char *stacks; /* "frames", "dwarf", "lbr", "none" */
        /* One moment, by the time of day and by perf's clock, in ns. */
        bool has_reference;
        uint64_t reference_tod, reference_clock;
        uint64_t n_lost;
        GPtrArray *events;     /* RecordingEvent */
        GPtrArray *processes;  /* RecordingProcess */
        GArray *mappings;      /* Mapping: executable ones of assemblies */
        GArray *binaries;      /* Binary: each other file that was mapped executable */
        GHashTable *paths;     /* set of the paths of these */
        GHashTable *pid_ns;    /* pid -> uint64_t, also of processes without samples */
        GHashTable *by_pid;    /* pid -> RecordingProcess */
        bool has_events;       /* the header has ended */
        int32_t namespaces_of; /* pid of the NAMESPACES record that is being read, or 0 */
} Recording;

Recording *recording_new(void);
void recording_free(Recording *recording);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Recording, recording_free)

/*
 * A line of perf script --ns --header --show-mmap-events --show-namespace-events
 * --show-lost-events.
 */
void recording_take_line(Recording *recording, const char *line);
/* A line of the survey. False if it is malformed. */
bool recording_take_survey(Recording *recording, const char *line);
/* To be called after the last line. */
void recording_finish(Recording *recording);

/*
 * Writes the mappings of assemblies, as lines for the filter. Nothing without a reference time:
 * then it is unknown which files have changed since.
 */
void recording_write_mappings(const Recording *recording, FILE *file);
