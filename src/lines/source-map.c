/* SPDX-License-Identifier: MIT */
#include "lines/source-map.h"

#include <stdlib.h>
#include <string.h>

void source_map_deinit(SourceMap *map)
{
        size_t i;

        for (i = 0; i < map->n; i++) {
                free(map->rows[i].from);
                free(map->rows[i].to);
        }
        free(map->rows);
        *map = (SourceMap){0};
}

bool source_map_add(SourceMap *map, const char *from, const char *to)
{
        SourceMapRow *rows = realloc(map->rows, (map->n + 1) * sizeof(*rows));
        SourceMapRow row;

        if (!rows)
                return false;
        map->rows = rows;
        row = (SourceMapRow){strdup(from), strdup(to)};
        if (!row.from || !row.to) {
                free(row.from);
                free(row.to);
                return false;
        }
        rows[map->n++] = row;
        return true;
}

/* The rest of PATH below the directory FROM; NULL: PATH is elsewhere. */
static const char *path_after(const char *path, const char *from)
{
        size_t n = strlen(from);

        if (strncmp(path, from, n) != 0)
                return NULL;
        if (n && (from[n - 1] == '/' || from[n - 1] == '\\'))
                return path + n;
        return !path[n] || path[n] == '/' || path[n] == '\\' ? path + n : NULL;
}

char *source_map_apply(const SourceMap *map, const char *path)
{
        size_t i, n_to, n_rest;
        char *mapped;

        for (i = map->n; i-- > 0;) {
                const char *rest = path_after(path, map->rows[i].from);

                if (!rest)
                        continue;
                n_to = strlen(map->rows[i].to);
                n_rest = strlen(rest);
                mapped = malloc(n_to + n_rest + 1);
                if (mapped) {
                        memcpy(mapped, map->rows[i].to, n_to);
                        memcpy(mapped + n_to, rest, n_rest + 1);
                }
                return mapped;
        }
        return strdup(path);
}
