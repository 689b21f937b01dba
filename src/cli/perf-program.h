/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * perf script with clrsym's filter: a process, what it prints, and what the filter reports
 */

#include <glib.h>
#include <stdbool.h>

/* perf, and the filter, as they were found. */
typedef struct PerfPrograms {
        char *perf; /* owned */
        char *filter;
} PerfPrograms;

bool perf_programs_find(PerfPrograms *ret_programs, GError **error);
void perf_programs_deinit(PerfPrograms *programs);

/* The next bytes that perf prints. False: there is no point in going on. */
typedef bool (*PerfBytesFn)(const char *bytes, size_t n, void *data);

typedef struct PerfRun {
        const char *input;
        const char *const *arguments; /* of perf script; ends with NULL */
        GPtrArray *settings;          /* of the filter, without --dlarg */
        const char *mappings;         /* lines for the filter; NULL: it is not told */
        int output_fd;                /* where perf prints to; -1: to FN */
        PerfBytesFn fn;
        void *data;
} PerfRun;

/* What came of it; owned. */
typedef struct PerfResult {
        char *report;        /* what the filter reported */
        char *said;          /* stderr */
        bool is_reader_gone; /* nobody reads what is printed */
} PerfResult;

void perf_result_deinit(PerfResult *result);

/*
 * Runs to the end. False if perf failed, with ERROR in its words or the filter's, or if a signal
 * was caught.
 */
bool perf_run(const PerfPrograms *programs, const PerfRun *run, PerfResult *ret_result,
              GError **error);

/* Signals that ask to end wait from now on, until what must be removed is removed. */
void perf_catch_signals(void);
/* The one that came, or 0. */
int perf_caught_signal(void);
/* Ends as if the signal had come now. */
void perf_end_by_signal(int number);

#define PERF_ERROR (g_quark_from_static_string("clrsym-perf"))
