/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Profile file: the text of a profile on its way to a file, which may be compressed
 *
 * A writer appends to the text and calls profile_file_flush() now and then. After a failure nothing
 * more is written, and the reason is kept for the end.
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

/* "-" is stdout. With GZIP the file is compressed. RET_FILE stays where it is until it is closed.
 */
bool profile_file_open(ProfileFile *ret_file, const char *path, bool gzip, GError **error);
/* Writes the text if there is much of it. */
void profile_file_flush(ProfileFile *file);
/* Writes the rest, and the file appears. After a failure it does not. */
bool profile_file_close(ProfileFile *file, GError **error);
