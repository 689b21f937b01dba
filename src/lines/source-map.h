/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Source map: where sources are now that had another path when they were compiled
 */

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
/* Paths that begin with the directories FROM begin with TO instead; the last one added wins. False:
 * no memory. */
bool source_map_add(SourceMap *map, const char *from, const char *to);
/* The path by the map; the caller frees it. NULL: no memory. */
char *source_map_apply(const SourceMap *map, const char *path);
