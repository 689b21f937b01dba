/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Disk: the packets of a live session that the relay daemon has in its files
 *
 * The relay daemon writes a packet, and then tells of it in an index beside the file; only packets
 * in the index are looked at. Files may be in a ring, of which the oldest is replaced.
 */

#include "feed/stream.h"

typedef struct DiskPacket {
        uint64_t offset, size; /* bytes in its file */
        uint64_t begin, end;   /* times */
        unsigned file;         /* in DiskStream.files */
} DiskPacket;

typedef struct DiskStream {
        StreamKey key;
        GPtrArray *files; /* owned paths */
        GArray *packets;  /* of DiskPacket, in order of time */
} DiskStream;

typedef struct DiskTrace {
        char *path;         /* owned: the directory with the metadata */
        unsigned session;   /* of that name, counted from the oldest */
        bool is_over;       /* there is a newer one */
        GPtrArray *streams; /* owned DiskStreams */
} DiskTrace;

/* Does anything have to be read of this stream? */
typedef bool (*DiskWanted)(void *data, const StreamKey *key);

/*
 * The traces of the live session NAME of this machine below the relay daemon's OUTPUT, oldest
 * first: of the newest session of that name, and of those before that were written to in the last
 * SINCE seconds. Owned DiskTraces, with the streams that are WANTED.
 */
GPtrArray *disk_scan(const char *output, const char *name, unsigned since, DiskWanted wanted,
                     void *data);

/* Packets of a stream, in order of time and without a hole. */
typedef struct DiskSelection {
        const DiskStream *stream;
        unsigned first, n;
} DiskSelection;

/*
 * Makes the directory PATH a trace with some packets of TRACE. False with ERROR set: they could not
 * be read; they may be gone from the ring meanwhile.
 */
bool disk_excerpt(const DiskTrace *trace, const DiskSelection *selections, size_t n,
                  const char *path, GError **error);

/* Removes a directory with what is in it. */
void disk_remove(const char *path);
