/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Viewer wire: the requests and replies of the protocol between lttng-relayd and its viewers
 *
 * The layouts are those of lttng-tools' header lttng-viewer-abi.h and its document
 * live-reading-protocol, versions 2.4 to 2.15: all numbers are big-endian, nothing is padded. A
 * request is a u64 payload length, a u32 command, a u32 zero, and its payload. Replies have neither
 * command nor length: they come in the order of the requests.
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define VIEWER_MAJOR 2
/* Both sides use the lower one of their minor versions. From 15 on CTF 2 sessions are visible. */
#define VIEWER_MINOR     15
#define VIEWER_MIN_MINOR 4

/* More is refused before anything is allocated. */
#define VIEWER_MAX_PACKET   (64u << 20)
#define VIEWER_MAX_METADATA (64u << 20)
#define VIEWER_MAX_ROWS     (1u << 16)

#define VIEWER_HOST_SIZE    64
#define VIEWER_NAME_SIZE    255
#define VIEWER_PATH_SIZE    4096
#define VIEWER_SESSION_SIZE (20 + VIEWER_HOST_SIZE + VIEWER_NAME_SIZE)
#define VIEWER_STREAM_SIZE  (20 + VIEWER_PATH_SIZE + VIEWER_NAME_SIZE)
/* From this minor version on, a session's row has the lengths of both names, and the trace format,
 * before them. */
#define VIEWER_LENGTHS_MINOR 15
#define VIEWER_LENGTHS_SIZE  (20 + 3 * 4)

typedef enum ViewerCommand {
        VIEWER_CONNECT = 1,
        VIEWER_LIST_SESSIONS,
        VIEWER_ATTACH_SESSION,
        VIEWER_GET_NEXT_INDEX,
        VIEWER_GET_PACKET,
        VIEWER_GET_METADATA,
        VIEWER_GET_NEW_STREAMS,
        VIEWER_CREATE_SESSION,
        VIEWER_DETACH_SESSION,
        _VIEWER_COMMAND_MAX,
} ViewerCommand;

/* The statuses of each command; none of them is 0. */
typedef enum ViewerAttachStatus {
        VIEWER_ATTACH_OK = 1,
        VIEWER_ATTACH_ALREADY, /* another viewer has the session */
        VIEWER_ATTACH_UNKNOWN,
        VIEWER_ATTACH_NOT_LIVE,
        VIEWER_ATTACH_SEEK_ERROR,
        VIEWER_ATTACH_NO_SESSION,
} ViewerAttachStatus;

typedef enum ViewerIndexStatus {
        VIEWER_INDEX_OK = 1,
        VIEWER_INDEX_RETRY,
        VIEWER_INDEX_HUP, /* the stream has ended */
        VIEWER_INDEX_ERROR,
        VIEWER_INDEX_INACTIVE, /* a beacon: nothing older than its time will come */
        VIEWER_INDEX_EOF,
} ViewerIndexStatus;

typedef enum ViewerPacketStatus {
        VIEWER_PACKET_OK = 1,
        VIEWER_PACKET_RETRY,
        VIEWER_PACKET_ERROR,
        VIEWER_PACKET_EOF,
} ViewerPacketStatus;

typedef enum ViewerMetadataStatus {
        VIEWER_METADATA_OK = 1,
        VIEWER_METADATA_NO_NEW,
        VIEWER_METADATA_ERROR,
} ViewerMetadataStatus;

typedef enum ViewerStreamsStatus {
        VIEWER_STREAMS_OK = 1,
        VIEWER_STREAMS_NO_NEW,
        VIEWER_STREAMS_ERROR,
        VIEWER_STREAMS_HUP, /* the session has ended */
} ViewerStreamsStatus;

typedef enum ViewerFlags {
        VIEWER_FLAG_NEW_METADATA = 1 << 0, /* request it before the packet */
        VIEWER_FLAG_NEW_STREAM = 1 << 1,
} ViewerFlags;

/* Requests: each appends one to OUT. */
void viewer_put_connect(GByteArray *out);
/* LIST_SESSIONS, CREATE_SESSION: no payload. */
void viewer_put_empty(GByteArray *out, ViewerCommand command);
/* Attaches from the next packet on that the relay daemon receives. */
void viewer_put_attach(GByteArray *out, uint64_t session);
/* GET_NEXT_INDEX and GET_METADATA of a stream, GET_NEW_STREAMS and DETACH_SESSION of a session. */
void viewer_put_id(GByteArray *out, ViewerCommand command, uint64_t id);
void viewer_put_get_packet(GByteArray *out, uint64_t stream, uint64_t offset, uint32_t n);

typedef struct ViewerIndex {
        uint64_t offset;       /* offset in the relay daemon's file, in bytes */
        uint64_t packet_bits;  /* sizes */
        uint64_t content_bits; /* bits in use */
        uint64_t begin, end;   /* clock values, in cycles; for a beacon the end */
        uint64_t discarded;
        uint64_t class_id; /* of the stream class */
} ViewerIndex;

typedef struct ViewerSession {
        uint64_t id;
        uint32_t timer_us; /* 0: the session cannot be read live */
        uint32_t n_clients, n_streams;
        char host[VIEWER_HOST_SIZE + 1];
        char name[VIEWER_NAME_SIZE + 1];
} ViewerSession;

typedef struct ViewerStream {
        uint64_t id, trace_id;
        bool is_metadata;
} ViewerStream;

/* A part of a reply: a whole reply, or the head or a row of a reply with rows. */
typedef struct ViewerReply {
        uint32_t status; /* of the command's enum; CONNECT, LIST_SESSIONS: 0 */
        uint32_t flags;  /* ViewerFlags */
        bool is_row;
        bool is_last; /* the last part of the reply */
        uint32_t major, minor;
        ViewerIndex index;
        ViewerSession session;
        ViewerStream stream;
        const uint8_t *bytes; /* borrowed: of a packet or of metadata */
        size_t n_bytes;
} ViewerReply;

/* The parser's position in a reply. Zero before a connection's first byte. */
typedef struct ViewerParser {
        uint32_t minor; /* the version of both sides, after the reply to CONNECT */
        bool has_head;
        uint32_t status;
        uint32_t n_rows_left;
} ViewerParser;

/*
 * Takes the next part of the reply to COMMAND from N bytes. Returns the number of its bytes, 0 if
 * more bytes are needed, or -EBADMSG: the sender does not speak this protocol, or sends too much.
 * After the last part the parser is ready for the next reply.
 */
ssize_t viewer_reply_next(ViewerParser *parser, ViewerCommand command, const uint8_t *bytes,
                          size_t n, ViewerReply *ret_reply);
