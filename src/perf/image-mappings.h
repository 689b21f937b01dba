/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * ImageMappings: which file recorded processes had mapped where, at a time
 *
 * A process can map as many files as it likes. So what is kept of each is bounded, and what a
 * question costs does not depend on how many there are.
 */

#include "perf/mapping.h"
#include "perf/hash-index.h"

/* Bytes of memory for the mappings of a process: some 70,000 of them; and of all. */
#define IMAGE_MAPPINGS_OF_PROCESS (16u << 20)
#define IMAGE_MAPPINGS_OF_ALL     (256u << 20)

typedef struct ImageMapping {
        Mapping mapping; /* owned */
        uint64_t reach;  /* the highest end of this one and of those before it */
        size_t file;     /* number in files, from 1; 0: no file */
        const char
                *reason; /* static: why there is no file; NULL with `file` 0: not looked for yet */
        bool is_missed;
} ImageMapping;

/* A process that has mappings, or was asked for them. */
typedef struct ImageProcess {
        int32_t pid;
        size_t n_bytes;      /* of its mappings */
        uint64_t n_left_out; /* mappings */
} ImageProcess;

typedef struct ImageMappings {
        ImageMapping **rows; /* owned; by pid and address, once they are sorted */
        size_t n_rows, n_rows_size;
        ImageProcess *processes; /* owned */
        size_t n_processes, n_processes_size;
        HashIndex by_pid; /* of the processes */
        size_t n_bytes;
} ImageMappings;

void image_mappings_deinit(ImageMappings *mappings);

/* True if the process is new: it has neither mappings nor was it asked for. */
bool image_mappings_add_process(ImageMappings *mappings, int32_t pid);
/* Takes over the mapping's path. False: no memory. What is too much is left out. */
bool image_mappings_take(ImageMappings *mappings, const Mapping *mapping);
/* To be called after all were taken. */
void image_mappings_sort(ImageMappings *mappings);

/* The last mapping at ADDRESS of process PID, not later than TIME. NULL: none is known. */
ImageMapping *image_mappings_find(const ImageMappings *mappings, int32_t pid, uint64_t address,
                                  uint64_t time);
/* Was no other file mapped where MAPPING is, at any time? */
bool image_mappings_is_alone(const ImageMappings *mappings, const Mapping *mapping);

/* The process of which most were left out; NULL: none. */
const ImageProcess *image_mappings_most_left_out(const ImageMappings *mappings);
