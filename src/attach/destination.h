/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Destination: a daemon that gets the events and the process gaps of attachments
 *
 * The files of the holder's own daemon are in the holder's directory itself. Each other daemon has
 * a directory in it, to-HASH, with the path of its ingest socket in a file `ingest`. A later holder
 * continues with it, even if that holder has another daemon of its own.
 */

#include "attach/gap-log.h"

typedef struct Destination {
        char *directory; /* owned: directory of its attachments and gaps */
        char *own_file;  /* owned: the file `ingest`; NULL: the holder's own daemon */
        GapLog *gaps;    /* owned; gap_log_ingest() is the path of the ingest socket */
} Destination;

/* Called when gap_log_is_pending() may have changed. */
typedef void (*DestinationFn)(void *data);

/* The holder's own daemon. */
Destination *destination_new(const char *holder, const char *ingest, DestinationFn fn, void *data);
/* Another daemon; makes its directory. NULL with ERROR set. */
Destination *destination_add(const char *holder, const char *ingest, DestinationFn fn, void *data,
                             GError **error);
/*
 * Moves each file of an attachment or a gap in the directory HOLDER itself to that of its own
 * daemon, unless that is INGEST.
 */
void destination_sort(const char *holder, const char *ingest);
/* Loads the directory NAME in HOLDER; NULL: no such destination. */
Destination *destination_load(const char *holder, const char *name, DestinationFn fn, void *data);
/* Ends as gap_log_free() does. IS_UNUSED: no attachment uses the destination, so its directory is
 * removed, unless it has gaps. */
void destination_free(Destination *destination, bool is_unused);
