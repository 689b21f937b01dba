/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * PerfWriter: writes a perf.data file, record by record
 *
 * PerfData reads the file.
 */

#include "perfdata/perf-data.h"

#include <stdio.h>

/* Members of all samples. */
#define PERF_WRITER_SAMPLE                                                                         \
        (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |            \
         PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN)
/* Members of samples with a copied stack. */
#define PERF_WRITER_COPY (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

/* Maximum of a copied stack in bytes: the size of a record has 16 bits. */
#define PERF_WRITER_MAX_STACK 65024u

typedef struct PerfWriterEvent {
        const char *name;
        /*
         * The attributes, as for the kernel. The sample_type is PERF_WRITER_SAMPLE, with or without
         * PERF_WRITER_COPY; all events use one clock.
         */
        struct perf_event_attr attr;
} PerfWriterEvent;

typedef struct PerfWriter {
        FILE *output;                  /* owned */
        const PerfWriterEvent *events; /* borrowed */
        unsigned n_events;
        GByteArray *record;  /* owned: the current record */
        GByteArray *chain;   /* owned: the chain of the current sample */
        const char *machine; /* borrowed: machine of uname(2); NULL: not recorded */
        PerfReference reference;
        bool has_failed;
} PerfWriter;

/*
 * FD is an empty file, and is duplicated. EVENTS are borrowed until the deinit. Deinitialize the
 * writer in both cases. False: errno is set.
 */
bool perf_writer_init(PerfWriter *ret, int fd, const PerfWriterEvent *events, unsigned n_events);
void perf_writer_deinit(PerfWriter *writer);

typedef struct PerfWriterSample {
        unsigned event; /* index of the event */
        int32_t pid, tid;
        uint32_t cpu;
        uint64_t ip, time, period;
        const uint64_t *addresses; /* the leaf first */
        size_t n_addresses;
        /*
         * With PERF_WRITER_COPY: the registers of a 64-bit process, and the bytes from the stack
         * pointer on, at most PERF_WRITER_MAX_STACK.
         */
        const uint64_t *registers;
        size_t n_registers;
        const uint8_t *stack;
        uint32_t n_stack;
} PerfWriterSample;

void perf_writer_add_sample(PerfWriter *writer, const PerfWriterSample *sample);

/* An inode that no file has. */
#define PERF_WRITER_NO_INODE UINT64_MAX

typedef struct PerfWriterMapping {
        int32_t pid;
        uint64_t start, end; /* END is exclusive */
        uint64_t offset;     /* offset in the file */
        uint64_t time;       /* 0: before the recording */
        uint8_t n_build_id;  /* 0: device and inode identify the file */
        uint8_t build_id[20];
        uint32_t major, minor;
        uint64_t inode;   /* 0: anonymous; PERF_WRITER_NO_INODE: the file is not identified */
        const char *path; /* empty: anonymous memory */
} PerfWriterMapping;

void perf_writer_add_mapping(PerfWriter *writer, const PerfWriterMapping *mapping);
/*
 * The thread has NAME from TIME on. IS_NEW: its process executes another program, so it has no
 * mappings.
 */
void perf_writer_add_name(PerfWriter *writer, int32_t pid, int32_t tid, uint64_t time,
                          const char *name, bool is_new);

/* Writes the rest of the file. False: a write failed, and errno is set. */
bool perf_writer_finish(PerfWriter *writer);
