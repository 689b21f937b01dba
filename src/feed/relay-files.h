/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Relay files: the packets of a live session in the relay daemon's files
 *
 * The relay daemon writes a packet, and then an entry in an index beside the file; only packets in
 * the index are read. Files may form a ring, in which the oldest is replaced. Directories are read
 * only if they belong to the owner of the relay daemon's directory, or to our user.
 */

#include "feed/stream-table.h"

/* A packet in the index. */
typedef struct RelayPacket {
        uint64_t offset, size; /* bytes in its file */
        uint64_t begin, end;   /* times, in ns of the stream's clock */
        unsigned file;         /* in RelayStream.files */
} RelayPacket;

typedef struct RelayStream {
        StreamKey key;
        GPtrArray *files; /* owned paths */
        GArray *packets;  /* of RelayPacket, in order of time */
} RelayStream;

typedef struct RelayTrace {
        char *path;       /* owned: the directory with the metadata */
        unsigned session; /* the number of the session among those of that name, from the oldest */
        bool is_over;     /* there is a newer session */
        GPtrArray *streams; /* owned RelayStreams */
} RelayTrace;

typedef enum RelayFilesError {
        RELAY_FILES_ERROR_GONE,  /* the packet cannot be read, or no longer exists */
        RELAY_FILES_ERROR_LOCAL, /* no descriptors or memory: nothing is lost yet */
} RelayFilesError;

#define RELAY_FILES_ERROR (g_quark_from_static_string("clrsym-relay-files"))

/* Callbacks into the owner of the scan. */
typedef struct RelayCalls {
        /* The identity of the trace in the directory PATH, borrowed, 16 bytes; NULL: the directory
         * is not a trace, or not yet. *RET_ERRNO: the reason why it cannot be read. */
        const uint8_t *(*identify)(void *data, const char *path, int *ret_errno);
        /* Packets of this stream are needed. */
        bool (*wants)(void *data, const StreamKey *key);
} RelayCalls;

/*
 * The traces of the live session NAME of this machine below the relay daemon's OUTPUT, oldest
 * first: of the newest session of that name, and of earlier ones with a write in the last SINCE
 * seconds. Returns owned RelayTraces with the wanted streams; NULL with a local ERROR set.
 * RET_UNREAD: NULL, or the paths with errors of the disk, for people; owned by the caller.
 */
GPtrArray *relay_files_scan(const char *output, const char *name, unsigned since,
                            const RelayCalls *calls, void *data, char **ret_unread, GError **error);

/* True if the error is on our side, and may pass. */
bool relay_errno_is_local(int error);

/*
 * Reads a packet of STREAM into BYTES. False with ERROR set: it could not be read, perhaps because
 * the ring has replaced it.
 */
bool relay_stream_read(const RelayStream *stream, const RelayPacket *packet, GByteArray *bytes,
                       GError **error);
