/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Map file: the perf map of a running process, rewritten for other tools
 *
 * The file is /tmp/perf-PID.map as the process sees it, with the PID of its own namespace: the
 * place where its runtime would write a map, and where perf and bcc look. Root writes the file with
 * the rights of the process's user, as the runtime would. So the file belongs to that user, and
 * links or mounts cannot redirect root.
 *
 * If another program has changed the file, it is not replaced. While a MapFile is there, the file
 * that it has written is locked (flock(2)), so that another clrsym leaves it alone.
 */

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

typedef struct MapFile MapFile;

/*
 * The file for process PID (of our own namespace) at PATH, or, if PATH is NULL, where tools look.
 * NULL with ERROR set. Unless IS_FORCED, a file that the process itself has open is an error.
 */
MapFile *map_file_new(pid_t pid, const char *path, bool is_forced, GError **error);
void map_file_free(MapFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(MapFile, map_file_free)

/* The path for messages. Borrowed. */
const char *map_file_path(const MapFile *file);

typedef enum MapFileResult {
        MAP_FILE_WRITTEN,
        MAP_FILE_FAILED,  /* the file is unchanged; a retry may succeed */
        MAP_FILE_FOREIGN, /* another program has written it, or another clrsym keeps it current */
} MapFileResult;

/* Replaces the file by N bytes of TEXT. Unless it is WRITTEN, ERROR is set. */
MapFileResult map_file_write(MapFile *file, const char *text, size_t n, GError **error);

typedef enum MapFileState {
        MAP_FILE_CURRENT, /* as it was written last */
        MAP_FILE_CHANGED, /* another program has changed or replaced it */
        MAP_FILE_MISSING,
} MapFileState;

/* The state of a file that was written. */
MapFileState map_file_state(const MapFile *file);

/* Removes the file if it is the one that was written last; else returns false. */
bool map_file_remove(const MapFile *file);
