/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Map file: the perf map of a running process, which other tools read, written again and again
 *
 * The file is /tmp/perf-PID.map as the process sees it, PID being the one of its own namespace:
 * where its runtime would write one, and where perf and bcc look. Root writes it with the rights of
 * the process's user, as the runtime would. So the file has that user, and nobody can lead root
 * elsewhere by links or mounts.
 *
 * A file that another program has changed since is not replaced.
 */

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

typedef struct MapFile MapFile;

/*
 * The file for process PID (of our own namespace): at PATH, or, if that is NULL, where tools look.
 * Unless IS_FORCED, a file that the process itself has open is an error. NULL with ERROR set.
 */
MapFile *map_file_new(pid_t pid, const char *path, bool is_forced, GError **error);
void map_file_free(MapFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(MapFile, map_file_free)

/* As messages have it. Borrowed. */
const char *map_file_path(const MapFile *file);

typedef enum MapFileResult {
        MAP_FILE_WRITTEN,
        MAP_FILE_FAILED,  /* the file is as it was; later it may be possible */
        MAP_FILE_FOREIGN, /* another program has written it */
} MapFileResult;

/* Replaces the file by N bytes of TEXT. Unless it is WRITTEN, ERROR is set. */
MapFileResult map_file_write(MapFile *file, const char *text, size_t n, GError **error);

/* Removes the file if it is the one that was written last. */
void map_file_remove(const MapFile *file);
