/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Mapping: a file that a recorded process had mapped executable
 *
 * The Namer gets them as lines, because perf does not pass mappings to its filters.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct Mapping {
        int32_t pid;         /* in perf's pid namespace */
        uint64_t start, end; /* addresses, END is excluded */
        uint64_t offset;     /* in the file, of `start` */
        uint64_t time;       /* ns, of perf's clock; 0: before the recording began */
        uint64_t since; /* ns of the time of day: a file that changed later is not the one that was
                           mapped */
        uint32_t major, minor;
        uint64_t inode;      /* 0: perf recorded the build id of an ELF file instead */
        bool has_generation; /* generation of the inode: which of the files that used it */
        uint64_t generation;
        char *path; /* owned: in the process's mount namespace */
} Mapping;

void mapping_deinit(Mapping *mapping);

/*
 * Reads a line of /proc/PID/maps, without its end, of executable memory: all but the path, which
 * RET_PATH has, borrowed; empty: the memory is anonymous. False if it is none.
 */
bool mapping_take_columns(Mapping *mapping, const char *line, const char **ret_path);
/*
 * Reads a line of /proc/PID/maps: neither pid nor times are set. False if it is not of an
 * executable file mapping.
 */
bool mapping_take_map(Mapping *mapping, const char *line);

/* True if its file is called as assemblies are, also after its removal. */
bool mapping_is_assembly(const Mapping *mapping);
/* The same, or it can be a single-file program, which has assemblies in it. */
bool mapping_may_have_assemblies(const Mapping *mapping);

/* Writes a line with all members, for the filter. */
void mapping_write(const Mapping *mapping, FILE *file);
/* Reads such a line, without its end. False if it is malformed, or there is no memory. */
bool mapping_take_line(Mapping *mapping, const char *line);
