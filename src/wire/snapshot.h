/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Snapshot: a feeder's frames about a whole trace, in one file
 *
 * A line of text, then the feeder's frames as one gzip stream (see clrsym-snapshot(5)). The stream
 * ends with its length and a checksum: the data is verified only when the end has been read.
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* To be incremented with every change of the first line, the packing, or the frames. */
#define SNAPSHOT_FORMAT 1

/* The error for a path that is not a trace. */
#define TRACE_NEITHER                                                                              \
        "neither a snapshot nor a directory: a trace is one, with a file \"metadata\" in it, "     \
        "here or below; or a .nettrace file"

/*
 * The remedy for a file that is damaged, or of another format; and the description of a damaged
 * file.
 */
#define SNAPSHOT_MAKE_AGAIN "make it again with clrsym snapshot"
#define SNAPSHOT_DAMAGED    "a damaged snapshot: " SNAPSHOT_MAKE_AGAIN

typedef struct SnapshotWriter SnapshotWriter;

/*
 * Begins a file that appears at PATH with snapshot_writer_finish(). With JIT_EVENTS the frames will
 * include the JIT's events. NULL with ERROR set.
 */
SnapshotWriter *snapshot_writer_new(const char *path, bool jit_events, GError **error);
/* Removes the file, unless it was finished. */
void snapshot_writer_free(SnapshotWriter *writer);

/* Takes N bytes of frames. After a failure the writer can only be freed. */
bool snapshot_writer_add(SnapshotWriter *writer, const uint8_t *bytes, size_t n, GError **error);
/* Synchronizes the whole file to the disk, and renames it to PATH. */
bool snapshot_writer_finish(SnapshotWriter *writer, GError **error);

typedef struct SnapshotReader SnapshotReader;

/*
 * Takes over FD, an open file, in any case; PATH is for messages. With JIT_EVENTS a snapshot
 * without them is refused. NULL with ERROR set.
 */
SnapshotReader *snapshot_reader_new(int fd, const char *path, bool jit_events, GError **error);
void snapshot_reader_free(SnapshotReader *reader);

/* True if the frames include the JIT's events. */
bool snapshot_reader_has_jit_events(const SnapshotReader *reader);

/*
 * The next bytes of the frames, valid until the next call. Returns their number; 0 at the end, when
 * the whole file has been read and is intact; -1 with ERROR set.
 */
ssize_t snapshot_reader_next(SnapshotReader *reader, const uint8_t **ret_bytes, GError **error);
/* Bytes of the file. */
void snapshot_reader_progress(const SnapshotReader *reader, uint64_t *ret_read,
                              uint64_t *ret_total);
