/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * ImageMappings: the files that recorded processes had mapped, by address and time
 *
 * A process can map any number of files. So the memory for each process is bounded, and the cost of
 * a lookup does not depend on that number.
 */

#include "perf/mapping.h"
#include "perf/hash-index.h"

/* Limits in bytes: of one process, about 70,000 mappings; and of all processes. */
#define IMAGE_MAPPINGS_OF_PROCESS (16u << 20)
#define IMAGE_MAPPINGS_OF_ALL     (256u << 20)

typedef struct ImageMapping {
        Mapping mapping;    /* owned */
        uint64_t reach;     /* the highest end of this mapping and of those before it */
        size_t file;        /* number in files, from 1; 0: no file */
        const char *reason; /* static: why there is no file; NULL with `file` 0: not searched yet */
        bool is_missed;
} ImageMapping;

/* A process with mappings, or whose mappings were read. */
typedef struct ImageProcess {
        int32_t pid;
        size_t n_bytes;      /* bytes of its mappings */
        uint64_t n_left_out; /* mappings above the limit */
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

/* True if the process is new, so without mappings. */
bool image_mappings_add_process(ImageMappings *mappings, int32_t pid);
/* Takes over the mapping's path. Ignores mappings above the limits. False: no memory. */
bool image_mappings_take(ImageMappings *mappings, const Mapping *mapping);
/* Call this after the last image_mappings_take(). */
void image_mappings_sort(ImageMappings *mappings);

/* The latest mapping at ADDRESS of process PID that is not later than TIME. NULL: none. */
ImageMapping *image_mappings_find(const ImageMappings *mappings, int32_t pid, uint64_t address,
                                  uint64_t time);
/* False: another file was mapped where MAPPING is, at any time; or too many mappings overlap. */
bool image_mappings_is_alone(const ImageMappings *mappings, const Mapping *mapping);

/* The process with the most ignored mappings; NULL: none. */
const ImageProcess *image_mappings_most_left_out(const ImageMappings *mappings);
