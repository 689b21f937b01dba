/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Mapping: a file that a recorded process had mapped executable
 *
 * The Namer reads mappings as lines, because perf does not pass them to its filters.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct Mapping {
        int32_t pid;         /* in perf's pid namespace */
        uint64_t start, end; /* addresses; END is exclusive */
        uint64_t offset;     /* in the file, at `start` */
        uint64_t time;       /* ns, of perf's clock; 0: before the recording began */
        uint64_t since;      /* ns, time of day; a file that changed later is another one */
        uint32_t major, minor;
        uint64_t inode;      /* 0: perf recorded a build id instead */
        bool has_generation; /* inode's generation: tells files apart that used one inode */
        uint64_t generation;
        char *path; /* owned: path in the process's mount namespace */
} Mapping;

void mapping_deinit(Mapping *mapping);

/*
 * Reads a line of /proc/PID/maps, without its end, of executable memory: all but the path.
 * RET_PATH: the path, borrowed; empty: anonymous memory. False: not executable, or malformed.
 */
bool mapping_take_columns(Mapping *mapping, const char *line, const char **ret_path);
/*
 * Reads a line of /proc/PID/maps; sets neither pid nor times. False: not an executable mapping of a
 * file.
 */
bool mapping_take_map(Mapping *mapping, const char *line);

/* True if the file's name is that of an assembly, also after the file's removal. */
bool mapping_is_assembly(const Mapping *mapping);
/* True also for a file that can be a single-file program. */
bool mapping_may_have_assemblies(const Mapping *mapping);

/* Writes a line with all members, for perf's filter. */
void mapping_write(const Mapping *mapping, FILE *file);
/* Reads such a line, without its end. False: malformed, or no memory. */
bool mapping_take_line(Mapping *mapping, const char *line);
