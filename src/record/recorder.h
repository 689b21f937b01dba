/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Recorder: samples of .NET processes, and everything that is needed to name them
 *
 * A daemon and a holder of its own attach each process by EventPipe; perf samples in the
 * background, or, where perf cannot, the runtimes sample themselves. When it is over, the sessions
 * are ended first, so that the daemon has every event, and then the daemon is asked. Nothing is
 * left, also if this program is killed.
 */

#include "attach/eventpipe-session.h"
#include "record/jit-memory.h"
#include "record/sampler.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct RecorderProgress {
        double seconds;
        uint64_t n_bytes; /* of samples */
        bool is_counted;  /* perf takes them: */
        uint64_t n_samples, n_lost;
        unsigned n_processes; /* attached now */
        unsigned n_losing;    /* of these: whose events are being lost */
} RecorderProgress;

typedef struct RecorderSettings {
        const char *perf;         /* its path; NULL: */
        const char *no_perf;      /* why it cannot be used; NULL: it is not wanted */
        EventPipeSamples samples; /* without perf: what the runtimes sample */
        const char *frequency, *call_graph;
        SampledTime time;      /* with perf */
        bool has_chains;       /* of async methods, where runtimes report them */
        double interval;       /* seconds; 0: all samples are one file */
        double seconds;        /* 0: until something else ends it */
        bool is_whole_machine; /* and every .NET process on it; else PIDS and COMMAND */
        const pid_t *pids;
        unsigned n_pids;
        char **command; /* NULL or empty: none */
        /* Called now and then; borrowed. */
        void (*progress)(const RecorderProgress *progress, void *data);
        /* What could not be done, but does not prevent the rest. */
        void (*note)(const char *message, void *data);
        /* With an interval: its samples are in PATH, which now is the callee's, to be removed. All
         * are from before TIME, in ns of CLOCK_MONOTONIC. */
        void (*part)(const char *path, uint64_t time, void *data);
        void *data;
} RecorderSettings;

typedef struct Recorder Recorder;

/* NULL with ERROR set. */
Recorder *recorder_new(const RecorderSettings *settings, GError **error);
/* Ends what still runs, and removes the files. NULL is fine. */
void recorder_free(Recorder *recorder);

/*
 * Records until the time is over, the command or all processes have ended, or SIGINT, SIGTERM or
 * SIGHUP comes. A command that still runs is ended. False with ERROR set.
 */
bool recorder_run(Recorder *recorder, GError **error);

/* Afterwards: perf's file, or the directory with those of the runtimes' samples; and the socket of
 * the daemon. Owned by the recorder. */
const char *recorder_samples(const Recorder *recorder);
const char *recorder_socket(const Recorder *recorder);
/* False: that daemon was killed, so that there is nobody who could name the samples. */
bool recorder_has_daemon(const Recorder *recorder);
/* Moves the samples to a place beside the recording's directory, where they stay. The caller frees
 * the path; NULL with ERROR set. */
char *recorder_keep_samples(const Recorder *recorder, GError **error);
/* The same: the directory of what was compiled when, see jit-intervals.h. */
const char *recorder_jit_logs(const Recorder *recorder);
/* Also meanwhile: the directory of chains of async methods, see async-chains.h. */
const char *recorder_async_logs(const Recorder *recorder);
/* The code that the runtimes had compiled at the end. Borrowed. */
const JitMemory *recorder_jit_memory(const Recorder *recorder);
/* The same: the directory of the garbage collections, see collections.h. */
const char *recorder_collection_logs(const Recorder *recorder);
/* ns that were recorded. */
uint64_t recorder_duration(const Recorder *recorder);
/* The exit status of the command, as a shell has it; 0 without a command. */
int recorder_status(const Recorder *recorder);
