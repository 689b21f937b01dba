/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Snapshot: what a feeder said of a whole trace, in one file
 *
 * A line of text, then the feeder's frames as one gzip stream (see clrsym-snapshot(5)). The stream
 * ends with its length and a checksum: nothing that was read is good before the end was.
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Changes with the first line, the packing, or the frames inside. */
#define SNAPSHOT_FORMAT 1

typedef struct SnapshotWriter SnapshotWriter;

/*
 * Begins a file beside PATH; PATH itself is as it was until snapshot_writer_finish(). With
 * JIT_EVENTS the frames will have the JIT's events too. NULL with ERROR set.
 */
SnapshotWriter *snapshot_writer_new(const char *path, bool jit_events, GError **error);
/* Removes what was written, unless it was finished. */
void snapshot_writer_free(SnapshotWriter *writer);

/* Takes N bytes of frames. After a failure the writer is only good to be freed. */
bool snapshot_writer_add(SnapshotWriter *writer, const uint8_t *bytes, size_t n, GError **error);
/* Puts the whole file on the disk, and in place of PATH. */
bool snapshot_writer_finish(SnapshotWriter *writer, GError **error);

typedef struct SnapshotReader SnapshotReader;

/*
 * FD, an open file, is the callee's in any case; PATH is for messages. With JIT_EVENTS a snapshot
 * without them is refused. NULL with ERROR set.
 */
SnapshotReader *snapshot_reader_new(int fd, const char *path, bool jit_events, GError **error);
void snapshot_reader_free(SnapshotReader *reader);

/* True if the frames have the JIT's events too. */
bool snapshot_reader_has_jit_events(const SnapshotReader *reader);

/*
 * The next bytes of the frames, valid until the next call. Returns how many; 0 at the end, with all
 * of the file read and found whole; -1 with ERROR set.
 */
ssize_t snapshot_reader_next(SnapshotReader *reader, const uint8_t **ret_bytes, GError **error);
/* Bytes of the file. */
void snapshot_reader_progress(const SnapshotReader *reader, uint64_t *ret_read,
                              uint64_t *ret_total);
