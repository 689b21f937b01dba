/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Trace progress: the stream files of a directory's traces, and how far they have been read
 *
 * babeltrace2 does not report it. But it maps a piece of each file, one after the other, and
 * touches the pages as it reads: /proc/PID/smaps has where the piece begins and how much of it is
 * resident, to some 64 KiB. A file that it has closed (as inotify reports), and does not map any
 * more, has been read completely.
 */

#include <glib.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct TraceProgress TraceProgress;

/*
 * Looks for traces in DIRECTORY, here or below. NULL with ERROR set if there is none, or if a part
 * of it cannot be read.
 */
TraceProgress *trace_progress_new(const char *directory, GError **error);
void trace_progress_free(TraceProgress *progress);

/* From now on babeltrace2 reads the streams, no longer only their first packets. */
void trace_progress_begin(TraceProgress *progress);

/*
 * How many bytes the process PID has read, never less than before, and how many there are. If that
 * cannot be found out, as many as before.
 */
void trace_progress_update(TraceProgress *progress, pid_t pid, uint64_t *ret_read,
                           uint64_t *ret_total);
