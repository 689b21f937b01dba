/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Out: a file that appears when it is whole
 *
 * A writer appends to the text and calls out_flush() now and then. After a failure nothing more is
 * written, and the reason is kept for the end.
 */

#include <gio/gio.h>
#include <stdbool.h>

typedef struct Out {
        GString *text; /* what is to be written; owned */
        int fd;
        int error;                   /* errno of the first failure, or 0 */
        GZlibCompressor *compressor; /* owned, or NULL */
        char *temporary;             /* file to be renamed, owned, or NULL: FD is the target */
        char *target;                /* owned, or NULL: stdout */
} Out;

/* "-" is stdout. With GZIP the file is compressed. */
bool out_open(Out *out, const char *path, bool gzip, GError **reterr_error);
/* Writes the text if there is much of it. */
void out_flush(Out *out);
/* Writes the rest, and the file is there. After a failure, nothing is. */
bool out_close(Out *out, GError **reterr_error);
