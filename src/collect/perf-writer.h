/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * PerfWriter: a perf.data file, written record by record
 *
 * Two events, of which each sample has its address, thread, time, CPU, period and callers. What is
 * written is what PerfData reads.
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef enum PerfWriterEvent {
        PERF_WRITER_CPU,
        PERF_WRITER_SWITCH,
        _PERF_WRITER_EVENT_MAX,
} PerfWriterEvent;

typedef struct PerfWriter {
        FILE *output;       /* owned */
        GByteArray *record; /* owned: the one that is made */
        GByteArray *chain;  /* owned: of the sample that is written */
        uint64_t reference_tod,
                reference_clock; /* one moment, ns, by the time of day and the clock */
        bool has_failed;
} PerfWriter;

/* FD is an empty file; it is copied. To be deinitialized in both cases. False: errno says why. */
bool perf_writer_init(PerfWriter *ret, int fd);
void perf_writer_deinit(PerfWriter *writer);

typedef struct PerfWriterSample {
        PerfWriterEvent event;
        int32_t pid, tid;
        uint32_t cpu;
        uint64_t time, period;
        const uint64_t *addresses; /* the leaf first */
        size_t n_addresses;
} PerfWriterSample;

void perf_writer_add_sample(PerfWriter *writer, const PerfWriterSample *sample);

/* No file has it. */
#define PERF_WRITER_NO_INODE UINT64_MAX

typedef struct PerfWriterMapping {
        int32_t pid;
        uint64_t start, end; /* END is excluded */
        uint64_t offset;     /* in the file */
        uint64_t time;
        uint8_t n_build_id; /* 0: the file is known by device and inode */
        uint8_t build_id[20];
        uint32_t major, minor;
        uint64_t inode; /* 0: of no file; PERF_WRITER_NO_INODE: it is not known which file it is */
        const char *path;
} PerfWriterMapping;

void perf_writer_add_mapping(PerfWriter *writer, const PerfWriterMapping *mapping);
/* A thread has NAME from TIME on. IS_NEW: its process begins anew, with nothing mapped. */
void perf_writer_add_name(PerfWriter *writer, int32_t pid, int32_t tid, uint64_t time,
                          const char *name, bool is_new);

/* Writes what is after the records. False: errno says why something was not written. */
bool perf_writer_finish(PerfWriter *writer);

/* The names of the events, as the recorder has them. */
extern const char *const PERF_WRITER_NAMES[_PERF_WRITER_EVENT_MAX];
