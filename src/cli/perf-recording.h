/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Recording: facts about a perf.data for naming its frames
 */

#include "perf/mapping.h"
#include "perfdata/perf-data.h"
#include "perfdata/perf-sample.h"
#include "symbols/debug-files.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define RECORDING_OWN_CLOCK (-1)

/* A possible address of managed code. */
typedef struct RecordingAddress {
        uint64_t address, time;
} RecordingAddress;

/* So many addresses identify a process: no two have the same layout by chance. */
#define RECORDING_MAX_ADDRESSES 256u

typedef struct RecordingProcess {
        int32_t pid; /* in perf's pid namespace */
        char *comm;  /* owned: name of the main thread at its first sample, else of the first thread
                      */
        bool has_main;
        uint64_t n_samples;
        uint64_t first, last; /* times of samples */
        bool has_pid_ns;
        uint64_t pid_ns;
        GArray *addresses; /* RecordingAddress */
        uint64_t n_seen;   /* samples examined for addresses */
        uint64_t stride;   /* one sample in so many is examined */
} RecordingProcess;

typedef struct RecordingEvent {
        char *name;    /* owned */
        unsigned kind; /* of a .nettrace file's samples: a NettraceSampleKind */
        uint64_t n_samples;
} RecordingEvent;

typedef struct Recording {
        int clock_id;           /* of CLOCK_*, or RECORDING_OWN_CLOCK */
        const char *clock_name; /* static; NULL: not known */
        const char *stacks;     /* static: "frames", "copies", "dwarf" (copies without registers),
                                   "lbr", "none" */
        PerfReference reference;
        uint64_t n_lost;
        GPtrArray *events;      /* RecordingEvent */
        GPtrArray *processes;   /* RecordingProcess */
        GArray *mappings;       /* Mapping: executable ones of assemblies */
        GArray *binaries;       /* Binary: each other executable mapping's file */
        GHashTable *paths;      /* set of the paths in BINARIES */
        GHashTable *pid_ns;     /* pid -> uint64_t, also of processes without samples */
        GHashTable *by_pid;     /* pid -> RecordingProcess */
        RecordingProcess *last; /* borrowed: process of the last sample */
} Recording;

Recording *recording_new(void);
void recording_free(Recording *recording);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Recording, recording_free)

/* Takes facts from DATA that hold for all of its samples. */
void recording_take_header(Recording *recording, const PerfData *data);
/* Takes a record other than a sample. TIME: ns of perf's clock. */
void recording_take_record(Recording *recording, const struct perf_event_header *record,
                           uint64_t time);
/* Takes a sample; COMM: the name of its thread. */
void recording_take_sample(Recording *recording, const PerfAttr *event, const PerfSample *sample,
                           const char *comm);
/* The process of a sample that is to be examined for addresses; else NULL. */
RecordingProcess *recording_wants_addresses(Recording *recording, const PerfSample *sample);
void recording_process_add(RecordingProcess *process, uint64_t address, uint64_t time);
/* Call this after the last sample. */
void recording_finish(Recording *recording);
/* False if no sample has a time. */
bool recording_has_times(const Recording *recording);

/*
 * Writes the mappings of assemblies as lines for the Namer. Writes nothing without a reference
 * time, because changed files are unknown then.
 */
void recording_write_mappings(const Recording *recording, FILE *file);
