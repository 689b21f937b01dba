/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * SampleFile: the samples of a perf.data file, each with its callers
 *
 * A file is read three times: for its mappings, names and forks, which come in no order of time;
 * for the callers that copies of stacks have, because a sample can show a caller that other samples
 * hide (perf/osr-callers.h); and for the samples, in the order of time. Callers wait in a file
 * without a name. Only the third reading is repeated for each output.
 */

#include "perfdata/address-space.h"
#include "perfdata/perf-data.h"
#include "perfdata/switches.h"
#include "perfdata/thread-names.h"
#include "unwind/sample-queue.h"
#include "unwind/stack-walk.h"

#include <stdio.h>

typedef struct SampleFile {
        PerfData data;
        AddressSpaces *spaces; /* owned */
        ThreadNames *names;    /* owned */
        Switches *switches;    /* owned; NULL: there are no samples of OFF_CPU_EVENT */
        StackWalk *walk;       /* owned; NULL: chains are as perf recorded them */
        FILE *chains;          /* owned: what the walk has found; NULL: nothing */
        OsrCallers callers;
        unsigned *max_frames; /* owned: by event */
        uint64_t n_samples;
        uint64_t n_damaged; /* samples that are shorter than their members: they are left out */
        uint64_t n_waits;   /* samples of OFF_CPU_EVENT that the last third reading has seen */
        uint64_t n_uncertain_waits; /* of these: left out, because records are missing */
        /* Called at each sample, with the bytes that the reading has taken of the file, and its
         * size; not 0: reading ends. NULL: it never does. */
        int (*progress)(uint64_t n_read, uint64_t n_total, void *data);
        void *progress_data;
} SampleFile;

/* PATH is a regular file. To be closed in both cases. */
bool sample_file_open(SampleFile *ret_file, const char *path, GError **error);
void sample_file_close(SampleFile *file);

typedef struct SampleFileCalls {
        /* In the first reading, a record that is not a sample, at TIME in ns of perf's clock. NULL:
         * they are not wanted. */
        void (*record)(void *data, const struct perf_event_header *record, uint64_t time);
        /* In the second reading, a sample with its callers. */
        void (*sample)(void *data, const PerfAttr *event, const PerfSample *sample);
        void *data;
} SampleFileCalls;

/* The first reading. SOURCES, borrowed: for the walk. */
bool sample_file_scan(SampleFile *file, const StackSources *sources, const SampleFileCalls *calls,
                      GError **error);

/* The second reading: CALLS gets the samples with their callers, in the order of the file. */
bool sample_file_walk(SampleFile *file, const SampleFileCalls *calls, GError **error);

/* The third reading. Samples of OFF_CPU_EVENT have the ns of the wait as their period. False also
 * if FN has ended it; then ERROR is not set. */
bool sample_file_read(SampleFile *file, QueuedSampleFn fn, void *data, GError **error);

/* perf's limit of frames for samples of EVENT; UINT_MAX: chains that are cut have a mark. */
unsigned sample_file_max_frames(const SampleFile *file, const PerfAttr *event);

/* The name of thread TID at TIME; BUFFER has room for that of a thread whose name is unknown. */
const char *sample_file_comm(SampleFile *file, int32_t tid, uint64_t time,
                             char buffer[THREAD_NAME_SIZE]);
