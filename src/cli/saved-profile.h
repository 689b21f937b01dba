/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Saved profile: named samples in a file, from which every form can be written later, on any
 * machine
 *
 * Compressed by gzip: SAVED_MAGIC; u32 SAVED_ORDER; u32 sizes of the title and of the event's name;
 * i64 clock offset, as in ProfileOptions; the two texts; then a stream (perf/stream.h). Numbers are
 * in the byte order of the machine that wrote it; a file of the other order is refused.
 */

#include "cli/perf-profile.h"

#include <zlib.h>

#define SAVED_ENDING ".clrsym"
/* The files of every version begin with the first. */
#define SAVED_KIND  "clrsym samples "
#define SAVED_MAGIC SAVED_KIND "3\n"
/* Earlier versions lack records; else they are the same: the first has no command lines, and both
 * have neither markers nor physical stacks. */
#define SAVED_FIRST_MAGIC  SAVED_KIND "1\n"
#define SAVED_SECOND_MAGIC SAVED_KIND "2\n"
#define SAVED_ORDER        UINT32_C(0x01020304)

/* A file appears when it is whole, as with profile_write(). */
bool saved_profile_write(const Profile *profile, const char *path, const ProfileOptions *options,
                         GError **error);

/* Writes such a file to a new path in $TMPDIR, and prints which: the recording is over, and cannot
 * be made again, and what it has named is not lost with an output. */
void saved_profile_rescue(const Profile *profile, const ProfileOptions *options);

/* Could PATH be such a file? */
bool saved_profile_is(const char *path);

/* Where the samples go. */
typedef struct SavedTarget {
        Profile *into;  /* borrowed; NULL: a profile of their own */
        bool is_before; /* they are those that others are compared with */
} SavedTarget;

/* OPTIONS borrows the two texts and the markers. */
typedef struct SavedProfile {
        PerfProfile samples;
        ProfileOptions options;
        GArray *markers;     /* owned: of ProfileMarker; NULL: none are known */
        char *title, *event; /* owned; NULL: none */
} SavedProfile;

/* False with ERROR set; then there is nothing to clear. */
bool saved_profile_read(const char *path, const SavedTarget *target, SavedProfile *ret_saved,
                        GError **error);
/* The same, of the bytes that STREAM yields, packed or not; PATH is for messages. */
bool saved_profile_read_stream(gzFile stream, const char *path, const SavedTarget *target,
                               SavedProfile *ret_saved, GError **error);
void saved_profile_clear(SavedProfile *saved);
