/* SPDX-License-Identifier: MIT */
#pragma once

/* Source map: maps the paths of sources at compilation to present paths */

#include <stdbool.h>
#include <stddef.h>

typedef struct SourceMapRow {
        char *from, *to; /* owned */
} SourceMapRow;

typedef struct SourceMap {
        SourceMapRow *rows; /* owned */
        size_t n;
} SourceMap;

void source_map_deinit(SourceMap *map);
/*
 * Replaces the directories FROM at the begin of a path by TO; the last matching rule wins. False:
 * no memory.
 */
bool source_map_add(SourceMap *map, const char *from, const char *to);
/* The mapped path; the caller frees it. NULL: no memory. */
char *source_map_apply(const SourceMap *map, const char *path);
