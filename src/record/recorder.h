/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Recorder: samples of .NET processes, with everything for naming them
 *
 * A daemon and a holder of its own attach each process by EventPipe; perf samples in the
 * background, or, where perf cannot, the runtimes sample themselves. At the end, the sessions are
 * ended first, so that the daemon has every event, and then the daemon is asked. Nothing is left
 * behind, even if this program is killed.
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
        unsigned n_losing;    /* processes that are losing events */
} RecorderProgress;

typedef struct RecorderSettings {
        const char *perf;         /* its path; NULL: perf is not used */
        const char *no_perf;      /* why it cannot be used; NULL: it was not chosen */
        EventPipeSamples samples; /* without perf: the events of the runtimes */
        const char *frequency, *call_graph;
        SampledTime time;      /* with perf */
        bool has_chains;       /* chains of async methods, if runtimes report them */
        double interval;       /* seconds; 0: all samples go into one file */
        double seconds;        /* 0: until another reason to end */
        bool is_whole_machine; /* with every .NET process; false: PIDS and COMMAND */
        const pid_t *pids;
        unsigned n_pids;
        char **command; /* NULL or empty: none */
        /* Called from time to time; borrowed. */
        void (*progress)(const RecorderProgress *progress, void *data);
        /* Reports failures that do not prevent the rest. */
        void (*note)(const char *message, void *data);
        /* With an interval: its samples are in PATH, which the callee removes. All are from before
         * TIME, in ns of CLOCK_MONOTONIC. MEMORY, of which the callee becomes the owner, has the
         * code of its processes. */
        void (*part)(const char *path, JitMemory *memory, uint64_t time, void *data);
        void *data;
} RecorderSettings;

typedef struct Recorder Recorder;

/* NULL with ERROR set. */
Recorder *recorder_new(const RecorderSettings *settings, GError **error);
/* Ends everything that still runs, and removes the files. NULL is fine. */
void recorder_free(Recorder *recorder);

/* Records until the time is over, the command or all processes have ended, or SIGINT, SIGTERM or
 * SIGHUP arrives. If the command still runs, it is ended. False with ERROR set. */
bool recorder_run(Recorder *recorder, GError **error);

/* After the recording: perf's file, or the directory with the runtimes' samples; and the socket of
 * the daemon. Owned by the recorder. */
const char *recorder_samples(const Recorder *recorder);
const char *recorder_socket(const Recorder *recorder);
/* False: the daemon was killed, and its names are lost. */
bool recorder_has_daemon(const Recorder *recorder);
/* Moves the samples to a place beside the recording's directory, where they stay. The caller frees
 * the path; NULL with ERROR set. */
char *recorder_keep_samples(const Recorder *recorder, GError **error);
/* Also meanwhile: the directories of what was compiled when, see jit-intervals.h; and of chains of
 * async methods, see async-chains.h. */
const char *recorder_jit_logs(const Recorder *recorder);
const char *recorder_async_logs(const Recorder *recorder);
/* The jitted code of the runtimes at the end. Borrowed. */
const JitMemory *recorder_jit_memory(const Recorder *recorder);
/* Also meanwhile: the directory of the garbage collections, see collections.h. */
const char *recorder_collection_logs(const Recorder *recorder);
/* ns of the recording. */
uint64_t recorder_duration(const Recorder *recorder);
/* The exit status of the command, in the shell's form; 0 without a command. */
int recorder_status(const Recorder *recorder);
