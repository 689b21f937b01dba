/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * perf script with clrsym's filter: runs it, reads its output and the filter's report
 */

#include <glib.h>
#include <stdbool.h>

/* The paths of perf and of the filter. */
typedef struct PerfPrograms {
        char *perf; /* owned */
        char *filter;
} PerfPrograms;

bool perf_programs_find(PerfPrograms *ret_programs, GError **error);
void perf_programs_deinit(PerfPrograms *programs);

/* The next bytes of perf's output. False ends the run. */
typedef bool (*PerfBytesFn)(const char *bytes, size_t n, void *data);

typedef struct PerfRun {
        const char *input;
        const char *cache;            /* a directory like perf's cache; NULL: perf's own */
        const char *const *arguments; /* of perf script; ends with NULL */
        GPtrArray *settings;          /* of the filter, without --dlarg */
        bool is_forced;               /* perf reads files of other users, too */
        const char *mappings;         /* lines for the filter; NULL: it gets none */
        int output_fd;                /* perf's stdout; -1: FN gets it */
        PerfBytesFn fn;
        void *data;
} PerfRun;

/* The result of a run; owned. */
typedef struct PerfResult {
        char *report;        /* the filter's report */
        char *messages;      /* stderr */
        bool is_reader_gone; /* the reader of perf's output went away */
} PerfResult;

void perf_result_deinit(PerfResult *result);

/*
 * Runs to the end. False if perf failed, with perf's or the filter's message as ERROR, or if a
 * signal was caught.
 */
bool perf_run(const PerfPrograms *programs, const PerfRun *run, PerfResult *ret_result,
              GError **error);

/* From now on, signals that end the program are only noted, until files are removed. */
void perf_catch_signals(void);
/* The signal that was noted, or 0. */
int perf_caught_signal(void);
/* Ends the program by the signal. */
void perf_end_by_signal(int number);

/* A memory file with TEXT, at its begin; negative on failure. The caller closes it. */
int perf_memory_file(const char *text);

#define PERF_ERROR (g_quark_from_static_string("clrsym-perf"))
/* One of its codes. */
#define PERF_NO_SAMPLES 1
