/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Namer: samples in, the same samples named and printed out
 *
 * A sample is added with its frames: sample, then frame by frame. Names are asked for many samples
 * at once, so output comes with namer_flush() and at the end.
 */

#include "perf/batch-resolver.h"
#include "perf/form.h"

/* A process that maps more files, or larger ones, than are looked into for one. */
typedef struct CostlyProcess {
        int32_t pid;   /* 0: there is none */
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

/* Borrowed, as long as the Namer lives. */
typedef struct NamerTarget {
        TextOutFn write; /* gets the text, with DATA */
        void *data;
        const SampleSink *sink;    /* gets the samples; NULL: they are printed */
        clrsym *handle;            /* where names come from; NULL: the settings say that */
        const OsrCallers *callers; /* that copies of stacks have; NULL: none */
        OsrHiding hiding;          /* of the machine of the samples */
} NamerTarget;

/*
 * N settings, as perf's filter has them, whose texts are borrowed. To be deinitialized in both
 * cases.
 */
bool namer_init(Namer *namer, char **settings, int n, const NamerTarget *target);
void namer_deinit(Namer *namer);

/* Keeps the reason for a failure, the first one. Returns false. */
bool namer_fail(Namer *namer, const char *message);
bool namer_fail_no_memory(Namer *namer);
/* ERROR: the errno of a write. */
bool namer_fail_write(Namer *namer, int error);

/* Is it time for namer_flush()? */
bool namer_is_full(const Namer *namer);
/* Names and prints the samples that were added. Numbers of frames and texts are not valid after it.
 */
bool namer_flush(Namer *namer);
/* Prints what is left. */
bool namer_end(Namer *namer);
/*
 * Writes the line that names the costly process, with what it lacks, into the N bytes of BUFFER.
 * False: there is none.
 */
bool namer_report_costly(const Namer *namer, char *buffer, size_t n);
