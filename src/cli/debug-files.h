/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Debug files: the symbols of native code, put where perf script finds them
 *
 * perf looks for a library's symbols in the library, beside it, below /usr/lib/debug and in its own
 * cache. Debug files are also in directories that the user names, in the cache that dotnet-symbol
 * and debuggers share, and in that of debuginfod. Those with the library's build id are linked into
 * a directory that has the layout of perf's cache (tools/perf: util/build-id.c), and all that
 * perf's cache has.
 */

#include "unwind/call-frames.h"

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/* A file that was mapped by a process. */
typedef struct Binary {
        char *path; /* owned: in the process's mount namespace */
        pid_t pid;
} Binary;

/* More files than that are not looked at. */
#define BINARIES_MAX 4096u

/* Where debug files are looked for. */
typedef struct DebugFiles DebugFiles;

/* NAMED: paths of directories, or NULL; the usual ones are added. */
DebugFiles *debug_files_new(const GPtrArray *named);
void debug_files_free(DebugFiles *files);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DebugFiles, debug_files_free)
/* DATA of the finder is FILES. */
DebugFinder debug_files_finder(DebugFiles *files);

/*
 * Looks for debug files of BINARIES (of Binary), in the directories DIRECTORIES (paths; or NULL)
 * and the usual ones. Build id -> path, both owned by the result.
 */
GHashTable *debug_files_find(const GArray *binaries, const GPtrArray *directories);
/* The paths of BINARIES that are programs with compressed assemblies, each once; at most 16. */
GPtrArray *debug_files_packed(const GArray *binaries);
/* Links what was found, and what perf's cache has, into DIRECTORY, which is empty. */
bool debug_files_link(GHashTable *found, const char *directory, GError **error);
