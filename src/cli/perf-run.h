/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A run of the Namer over the samples of a recording, whose output goes to a descriptor or to a
 * profile
 */

#include "perf/namer.h"
#include "profile/profile.h"

#include <glib.h>
#include <stdbool.h>

typedef struct PerfRun {
        GPtrArray *settings;    /* of the Namer, see clrsym-report(1), THE FILTER; borrowed texts */
        const char *mappings;   /* of assemblies, a line each, as mapping_write() writes them */
        int output_fd;          /* gets the text; -1: SINK gets the samples */
        const SampleSink *sink; /* borrowed */
        clrsym *handle;         /* borrowed: NULL: the settings say where names come from */
        const OsrCallers *callers; /* borrowed; NULL: none */
        OsrHiding hiding;          /* as in NamerTarget */
        Profile *profile; /* borrowed: gets the command lines of processes; NULL: nobody wants them
                           */

        /* During the run */
        Namer namer;
        int mappings_fd;
        int write_error; /* errno; 0: none */
        bool has_failed;
} PerfRun;

/* The result of a run. */
typedef struct PerfResult {
        Counts counts;
        bool is_reader_gone; /* the reader of the output went away */
} PerfResult;

/* Makes the Namer ready. False: perf_run_end() says why. */
bool perf_run_begin(PerfRun *run);
/* The pid that the samples have for a process that the events know, or -1: none. */
int32_t perf_run_pid(const PerfRun *run, const clrsym_process *process);
/* Prints the rest, if IS_WHOLE, and ends the Namer. False with ERROR set, unless it was set before
 * or the reader of the output is gone. */
bool perf_run_end(PerfRun *run, bool is_whole, PerfResult *ret_result, GError **error);

/* From now on, signals that end the program are only noted, until files are removed. */
void perf_catch_signals(void);
/* The signal that was noted, or 0. */
int perf_caught_signal(void);
/* Ends the program by the signal. */
void perf_end_by_signal(int number);

#define PERF_ERROR (g_quark_from_static_string("clrsym-perf"))
/* One of its codes. */
#define PERF_NO_SAMPLES 1
