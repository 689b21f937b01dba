/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Recording: what a perf.data is of, as far as naming its frames needs it
 *
 * From perf script's header and events, and from the survey of clrsym's filter.
 */

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
        int32_t pid; /* as perf saw it */
        char *comm;
        uint64_t n_samples;
        uint64_t first, last; /* samples */
        bool has_pid_ns;
        uint64_t pid_ns;
        GArray *addresses; /* RecordingAddress: of what may be managed code */
} RecordingProcess;

typedef struct RecordingEvent {
        char *name;
        uint64_t n_samples;
} RecordingEvent;

typedef struct Recording {
        int clock_id; /* of CLOCK_*, or RECORDING_OWN_CLOCK */
        char *clock_name;
        char *stacks; /* "frames", "dwarf", "lbr", "none" */
        /* One moment by time of day, and by perf's clock, in ns. */
        bool has_reference;
        uint64_t reference_tod, reference_clock;
        uint64_t n_lost;
        GPtrArray *events;     /* RecordingEvent */
        GPtrArray *processes;  /* RecordingProcess */
        GArray *mappings;      /* Mapping: of assemblies, to run code of */
        GHashTable *pid_ns;    /* pid -> uint64_t, of processes that may have no samples */
        GHashTable *by_pid;    /* pid -> RecordingProcess */
        bool has_events;       /* the header is over */
        int32_t namespaces_of; /* pid of the NAMESPACES record that is being read, or 0 */
} Recording;

Recording *recording_new(void);
void recording_free(Recording *recording);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Recording, recording_free)

/*
 * A line that perf script --ns --header --show-mmap-events --show-namespace-events
 * --show-lost-events prints.
 */
void recording_take_line(Recording *recording, const char *line);
/* A line of the survey. False if it is none. */
bool recording_take_survey(Recording *recording, const char *line);
/* When all lines were taken. */
void recording_finish(Recording *recording);

/*
 * What process PID had mapped, as lines for the filter. With a reference time only: without, nobody
 * knows which files are still those of that time.
 */
void recording_write_mappings(const Recording *recording, int32_t pid, FILE *file);
