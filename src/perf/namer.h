/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Namer: names samples, and prints them
 *
 * Add a sample, then its frames one by one. One request names the frames of many samples, so output
 * appears with namer_flush() and at the end.
 */

#include "perf/batch-resolver.h"
#include "perf/form.h"

/* A process whose files exceed the limits of number or size. */
typedef struct CostlyProcess {
        int32_t pid;   /* 0: none */
        char name[48]; /* printable; "": not known */
} CostlyProcess;

typedef struct Namer {
        Settings settings; /* borrowed texts */
        Frames frames;
        Images images;
        BatchResolver resolver;
        Batch batch;
        TextOut out;
        const Form *form;
        void *form_state; /* owned */
        FormContext context;
        CostlyProcess costly;
        char message[500]; /* the reason, once a function has failed */
} Namer;

/* Borrowed while the Namer exists. */
typedef struct NamerTarget {
        TextOutFn write; /* writes text; gets DATA */
        void *data;
        const SampleSink *sink;    /* gets the samples; NULL: they are printed */
        clrsym *handle;            /* source of names; NULL: the settings name it */
        const OsrCallers *callers; /* callers found in copies of stacks; NULL: none */
        OsrHiding hiding;          /* for the machine of the samples */
} NamerTarget;

/*
 * Reads N settings in the form of perf's filter, and borrows their texts. Deinitialize NAMER in
 * both cases.
 */
bool namer_init(Namer *namer, char **settings, int n, const NamerTarget *target);
void namer_deinit(Namer *namer);

/* Keeps the first reason for a failure. Returns false. */
bool namer_fail(Namer *namer, const char *message);
bool namer_fail_no_memory(Namer *namer);
/* ERROR: the errno of a write. */
bool namer_fail_write(Namer *namer, int error);

/* True if it is time for namer_flush(). */
bool namer_is_full(const Namer *namer);
/* Names and prints the added samples. Invalidates the numbers of frames and texts. */
bool namer_flush(Namer *namer);
/* Names and prints the remaining samples. */
bool namer_end(Namer *namer);
/*
 * Writes a line about the costly process, and what it lacks, into BUFFER of N bytes. False: no such
 * process.
 */
bool namer_report_costly(const Namer *namer, char *buffer, size_t n);
