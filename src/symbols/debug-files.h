/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Debug files: finds symbols and call frame information of native code whose own file lacks them
 *
 * They can be beside that file, below /usr/lib/debug, in perf's cache, in directories that the user
 * names, in the cache that dotnet-symbol and debuggers share, and in that of debuginfod. A debug
 * file has the build id of its file.
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Finds the debug file of a file, which can have the call frame information that the file lacks. */
typedef struct DebugFinder {
        /* Opens the debug file of the file PATH, which process PID has mapped, with that build id;
         * the caller closes it. -1: none. */
        int (*open)(void *data, pid_t pid, const uint8_t *build_id, size_t n, const char *path);
        void *data;
} DebugFinder;

/* A file that was mapped by a process. */
typedef struct Binary {
        char *path; /* owned: in the process's mount namespace */
        pid_t pid;
} Binary;

/* Further files are ignored. */
#define BINARIES_MAX 4096u

/* The searched directories. */
typedef struct DebugFiles DebugFiles;

/* NAMED: paths of directories, or NULL; the usual ones are added. */
DebugFiles *debug_files_new(const GPtrArray *named);
void debug_files_free(DebugFiles *files);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DebugFiles, debug_files_free)
/* DATA of the finder is FILES. */
DebugFinder debug_files_finder(DebugFiles *files);

/* The paths of BINARIES that are programs with compressed assemblies, each once; at most 16. */
GPtrArray *debug_files_packed(const GArray *binaries);
