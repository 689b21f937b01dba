/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A run of the Namer over the samples of a recording, with output to a descriptor or a profile
 */

#include "perf/namer.h"
#include "profile/profile.h"

#include <glib.h>
#include <stdbool.h>

typedef struct PerfRun {
        GPtrArray *settings;    /* of the Namer, see clrsym-report(1), THE FILTER; borrowed texts */
        const char *mappings;   /* lines of mapping_write(), one for each assembly's mapping */
        int output_fd;          /* receives the text; -1: SINK receives the samples */
        const SampleSink *sink; /* borrowed */
        clrsym *handle;         /* borrowed; NULL: the settings name the source of names */
        const OsrCallers *callers; /* borrowed; NULL: none */
        OsrHiding hiding;          /* as in NamerTarget */
        Profile *profile;          /* borrowed: receives the command lines of processes; or NULL */

        /* During the run */
        Namer namer;
        int mappings_fd;
        int write_error; /* errno; 0: none */
        bool has_failed;
} PerfRun;

/* The result of a run. */
typedef struct PerfResult {
        Counts counts;
        bool is_reader_gone; /* the reader of the output closed it */
} PerfResult;

/* Prepares the Namer. False: perf_run_end() gives the reason. */
bool perf_run_begin(PerfRun *run);
/* The pid in the samples of a process of the events; -1: none. */
int32_t perf_run_pid(const PerfRun *run, const clrsym_process *process);
/* If IS_WHOLE, prints the rest. Ends the Namer. False with ERROR set, unless it was set before or
 * the reader of the output closed it. */
bool perf_run_end(PerfRun *run, bool is_whole, PerfResult *ret_result, GError **error);

/* Makes signals that end the program only set a flag, until files are removed. */
void perf_catch_signals(void);
/* The signal that has come, or 0. */
int perf_caught_signal(void);
/* Ends the program by the signal. */
void perf_end_by_signal(int number);

#define PERF_ERROR (g_quark_from_static_string("clrsym-perf"))
/* A code of PERF_ERROR. */
#define PERF_NO_SAMPLES 1
