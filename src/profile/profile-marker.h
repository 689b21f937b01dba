/* SPDX-License-Identifier: MIT */
#pragma once

/* Markers: intervals in which a runtime did something, such as a collection */

#include <glib.h>
#include <stdint.h>

typedef enum ProfileMarkerKind {
        PROFILE_MARKER_COLLECTION,
        PROFILE_MARKER_PAUSE,       /* the program was stopped for a collection */
        PROFILE_MARKER_COMPILATION, /* of a method by the JIT */
        _PROFILE_MARKER_KIND_MAX,
} ProfileMarkerKind;

typedef struct ProfileMarker {
        ProfileMarkerKind kind;
        int32_t pid, tid;    /* as in samples */
        uint64_t begin, end; /* ns, of the samples' clock */
        char *text;          /* owned; printable */
} ProfileMarker;

static inline void profile_marker_clear(gpointer marker)
{
        g_free(((ProfileMarker *)marker)->text);
}

/* Of ProfileMarker. */
static inline GArray *profile_markers_new(void)
{
        GArray *markers = g_array_new(FALSE, FALSE, sizeof(ProfileMarker));

        g_array_set_clear_func(markers, profile_marker_clear);
        return markers;
}
