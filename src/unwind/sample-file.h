/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * SampleFile: the samples of a perf.data file, each with its callers
 *
 * A file is read three times: for its mappings, names and forks, which are not in order of time;
 * for the callers in copies of stacks, because a sample can show a caller that other samples hide
 * (perf/osr-callers.h); and for the samples, in order of time. Callers are kept in a file without a
 * name. Only the third reading is repeated for a further output.
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
        StackWalk *walk;       /* owned; NULL: chains are perf's */
        FILE *chains;          /* owned: the chains of the walk; NULL: none */
        OsrCallers callers;
        unsigned *max_frames; /* owned: by event */
        uint64_t n_samples;
        uint64_t n_damaged; /* samples that are shorter than their members, and are left out */
        uint64_t n_waits;   /* samples of OFF_CPU_EVENT in the last third reading */
        uint64_t n_uncertain_waits; /* those that were left out, because records are missing */
        /* Called at each sample, with the bytes read so far, and the size of the file; a result
         * other than 0 ends the reading. NULL: not called. */
        int (*progress)(uint64_t n_read, uint64_t n_total, void *data);
        void *progress_data;
} SampleFile;

/* PATH is a regular file. To be closed in both cases. */
bool sample_file_open(SampleFile *ret_file, const char *path, GError **error);
void sample_file_close(SampleFile *file);

typedef struct SampleFileCalls {
        /* In the first reading, a record that is not a sample, at TIME in ns of perf's clock. NULL:
         * not called. */
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

/* perf's limit of frames for samples of EVENT; UINT_MAX: truncated chains have a mark. */
unsigned sample_file_max_frames(const SampleFile *file, const PerfAttr *event);

/* The name of thread TID at TIME; BUFFER is for the text of an unknown name. */
const char *sample_file_comm(SampleFile *file, int32_t tid, uint64_t time,
                             char buffer[THREAD_NAME_SIZE]);
