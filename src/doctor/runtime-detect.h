/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Runtime detection: what the files that a process has mapped show about its runtime
 *
 * Files are compared by their whole names; one that only contains such a name does not count.
 */

#include <glib.h>
#include <stdbool.h>

typedef struct DetectedRuntime {
        char *directory; /* owned or NULL: of its libcoreclr.so, as the process sees it */
        bool has_provider;
        bool has_mono;
        bool has_musl;
} DetectedRuntime;

/* MAPS: text as in /proc/PID/maps. ROOT: the process's root directory as we see it, or NULL. */
void runtime_detect(const char *maps, const char *root, DetectedRuntime *ret_runtime);
void detected_runtime_clear(DetectedRuntime *runtime);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DetectedRuntime, detected_runtime_clear)
