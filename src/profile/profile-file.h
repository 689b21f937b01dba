/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Profile file: the output of a profile, which can be compressed
 *
 * A writer appends to the text and calls profile_file_flush() from time to time. After a failure
 * nothing more is written, and closing reports the reason.
 */

#include "util/atomic-file.h"
#include "util/gzip.h"

#include <glib.h>

typedef struct ProfileFile {
        GString *text;   /* owned: to be written */
        AtomicFile file; /* owned */
        char *path;      /* owned; NULL: stdout */
        int error;       /* errno of the first failure, or 0 */
        Gzip *gzip;      /* owned; NULL: the file is not compressed */
} ProfileFile;

/* "-" is stdout. With GZIP the file is compressed. RET_FILE must not move until it is closed. */
bool profile_file_open(ProfileFile *ret_file, const char *path, bool gzip, GError **error);
/* Writes the text, if it is long. */
void profile_file_flush(ProfileFile *file);
/* Writes the rest, and makes the file appear, unless there was a failure. */
bool profile_file_close(ProfileFile *file, GError **error);
