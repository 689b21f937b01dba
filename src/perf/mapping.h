/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Mapping: a file that a recorded process had mapped to run code of
 *
 * perf notes them, but does not tell its filter: `clrsym perf` does, a line each.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct Mapping {
        int32_t pid;         /* as perf saw it */
        uint64_t start, end; /* addresses */
        uint64_t offset;     /* of the file, at `start` */
        uint64_t time;       /* ns, of perf's clock; 0: before the recording began */
        uint64_t since;      /* ns of the time of day: what changed later is not what was mapped */
        uint32_t major, minor;
        uint64_t inode;
        bool has_generation; /* which file it is of those that had the inode one after the other */
        uint64_t generation;
        char *path; /* owned: as that process saw it */
} Mapping;

void mapping_deinit(Mapping *mapping);

/* Takes a line of perf script --ns --show-mmap-events; `since` is not set. False if it is none. */
bool mapping_take_event(Mapping *mapping, const char *line);

/* Takes a line of /proc/PID/maps: neither pid nor times are set. False if it is none with code. */
bool mapping_take_map(Mapping *mapping, const char *line);

/* A line with all of it, generation and all, for the filter. */
void mapping_write(const Mapping *mapping, FILE *file);
/* Takes such a line, without its end. False if it is none, or there is no memory. */
bool mapping_take_line(Mapping *mapping, const char *line);
