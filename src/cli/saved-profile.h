/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Saved profile: named samples in a file, from which any machine can write every form later
 *
 * The file is compressed by gzip: SAVED_MAGIC; u32 SAVED_ORDER; u32 sizes of the title and of the
 * event's name; i64 clock offset, as in ProfileOptions; the two texts; then a stream
 * (perf/stream.h). Numbers are in the byte order of the writing machine; a file of the other order
 * is refused.
 */

#include "cli/perf-profile.h"

#include <zlib.h>

#define SAVED_ENDING ".clrsym"
/* Files of every version begin with SAVED_KIND. */
#define SAVED_KIND  "clrsym samples "
#define SAVED_MAGIC SAVED_KIND "3\n"
/* Earlier versions lack some records: version 1 has no command lines; versions 1 and 2 have neither
 * markers nor physical stacks. */
#define SAVED_FIRST_MAGIC  SAVED_KIND "1\n"
#define SAVED_SECOND_MAGIC SAVED_KIND "2\n"
#define SAVED_ORDER        UINT32_C(0x01020304)

/* Makes the file visible when it is complete, as profile_write() does. */
bool saved_profile_write(const Profile *profile, const char *path, const ProfileOptions *options,
                         GError **error);

/* Writes such a file to a new path in $TMPDIR, and prints the path, because the recording cannot be
 * repeated after the failure of an output. */
void saved_profile_rescue(const Profile *profile, const ProfileOptions *options);

/* True if PATH may be such a file. */
bool saved_profile_is(const char *path);

/* Receiver of the samples. */
typedef struct SavedTarget {
        Profile *into;  /* borrowed; NULL: make a profile */
        bool is_before; /* the samples are the baseline of a comparison */
} SavedTarget;

/* OPTIONS borrows the two texts and the markers. */
typedef struct SavedProfile {
        PerfProfile samples;
        ProfileOptions options;
        GArray *markers;     /* owned: of ProfileMarker; NULL: not known */
        char *title, *event; /* owned; NULL: none */
} SavedProfile;

/* False with ERROR set; then nothing needs clearing. */
bool saved_profile_read(const char *path, const SavedTarget *target, SavedProfile *ret_saved,
                        GError **error);
/* The same for the bytes of STREAM, compressed or not; PATH is for messages. */
bool saved_profile_read_stream(gzFile stream, const char *path, const SavedTarget *target,
                               SavedProfile *ret_saved, GError **error);
void saved_profile_clear(SavedProfile *saved);
