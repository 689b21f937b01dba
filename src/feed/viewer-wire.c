/* SPDX-License-Identifier: MIT */
#include "feed/viewer-wire.h"

#include <errno.h>
#include <string.h>

enum {
        CLIENT_TYPE_COMMAND = 1,
        SEEK_LAST = 2,
        /* Sizes of replies, or of their heads. */
        CONNECT_SIZE = 20,
        LIST_SIZE = 4,
        STATUS_SIZE = 4,
        STREAMS_SIZE = 8,
        INDEX_SIZE = 64,
        PACKET_SIZE = 12,
        METADATA_SIZE = 12,
};

static void put_u32(GByteArray *out, uint32_t value)
{
        value = GUINT32_TO_BE(value);
        g_byte_array_append(out, (const guint8 *)&value, sizeof(value));
}

static void put_u64(GByteArray *out, uint64_t value)
{
        value = GUINT64_TO_BE(value);
        g_byte_array_append(out, (const guint8 *)&value, sizeof(value));
}

static uint32_t get_u32(const uint8_t **at)
{
        uint32_t value;

        memcpy(&value, *at, sizeof(value));
        *at += sizeof(value);
        return GUINT32_FROM_BE(value);
}

static uint64_t get_u64(const uint8_t **at)
{
        uint64_t value;

        memcpy(&value, *at, sizeof(value));
        *at += sizeof(value);
        return GUINT64_FROM_BE(value);
}

static void put_head(GByteArray *out, ViewerCommand command, uint64_t n_payload)
{
        put_u64(out, n_payload);
        put_u32(out, command);
        put_u32(out, 0);
}

void viewer_put_connect(GByteArray *out)
{
        put_head(out, VIEWER_CONNECT, CONNECT_SIZE);
        put_u64(out, 0);
        put_u32(out, VIEWER_MAJOR);
        put_u32(out, VIEWER_MINOR);
        put_u32(out, CLIENT_TYPE_COMMAND);
}

void viewer_put_empty(GByteArray *out, ViewerCommand command)
{
        put_head(out, command, 0);
}

void viewer_put_attach(GByteArray *out, uint64_t session)
{
        put_head(out, VIEWER_ATTACH_SESSION, 2 * sizeof(uint64_t) + sizeof(uint32_t));
        put_u64(out, session);
        put_u64(out, 0);
        put_u32(out, SEEK_LAST);
}

void viewer_put_id(GByteArray *out, ViewerCommand command, uint64_t id)
{
        put_head(out, command, sizeof(id));
        put_u64(out, id);
}

void viewer_put_get_packet(GByteArray *out, uint64_t stream, uint64_t offset, uint32_t n)
{
        put_head(out, VIEWER_GET_PACKET, 2 * sizeof(uint64_t) + sizeof(uint32_t));
        put_u64(out, stream);
        put_u64(out, offset);
        put_u32(out, n);
}

/* Reads N bytes, and keeps a text of up to SIZE. */
static void get_text(const uint8_t **at, size_t n, char *ret_text, size_t size)
{
        memcpy(ret_text, *at, MIN(n, size));
        ret_text[MIN(n, size)] = '\0';
        *at += n;
}

/* A head with a number of rows after it. */
static ssize_t reply_begin_rows(ViewerParser *parser, uint32_t status, uint32_t n_rows, size_t size,
                                ViewerReply *reply)
{
        if (n_rows > VIEWER_MAX_ROWS)
                return -EBADMSG;
        parser->has_head = n_rows > 0;
        parser->status = status;
        parser->n_rows_left = n_rows;
        reply->status = status;
        reply->is_last = n_rows == 0;
        return (ssize_t)size;
}

static ssize_t reply_end_row(ViewerParser *parser, size_t size, ViewerReply *reply)
{
        reply->is_row = true;
        reply->status = parser->status;
        reply->is_last = --parser->n_rows_left == 0;
        parser->has_head = !reply->is_last;
        return (ssize_t)size;
}

static ssize_t reply_session(ViewerParser *parser, const uint8_t *at, size_t n, ViewerReply *reply)
{
        bool has_lengths = parser->minor >= VIEWER_LENGTHS_MINOR;
        size_t n_host = VIEWER_HOST_SIZE, n_name = VIEWER_NAME_SIZE;
        size_t size = has_lengths ? VIEWER_LENGTHS_SIZE : VIEWER_SESSION_SIZE;
        ViewerSession *session = &reply->session;

        if (n < size)
                return 0;
        session->id = get_u64(&at);
        session->timer_us = get_u32(&at);
        session->n_clients = get_u32(&at);
        session->n_streams = get_u32(&at);
        if (has_lengths) {
                n_host = get_u32(&at);
                n_name = get_u32(&at);
                get_u32(&at); /* the trace format, which the metadata shows too */
                if (n_host > VIEWER_PATH_SIZE || n_name > VIEWER_PATH_SIZE)
                        return -EBADMSG;
                size += n_host + n_name;
                if (n < size)
                        return 0;
        }
        get_text(&at, n_host, session->host, VIEWER_HOST_SIZE);
        get_text(&at, n_name, session->name, VIEWER_NAME_SIZE);
        return reply_end_row(parser, size, reply);
}

static ssize_t reply_stream(ViewerParser *parser, const uint8_t *at, size_t n, ViewerReply *reply)
{
        if (n < VIEWER_STREAM_SIZE)
                return 0;
        reply->stream.id = get_u64(&at);
        reply->stream.trace_id = get_u64(&at);
        reply->stream.is_metadata = get_u32(&at) != 0;
        return reply_end_row(parser, VIEWER_STREAM_SIZE, reply);
}

static ssize_t reply_index(const uint8_t *at, ViewerReply *reply)
{
        ViewerIndex *index = &reply->index;

        index->offset = get_u64(&at);
        index->packet_bits = get_u64(&at);
        index->content_bits = get_u64(&at);
        index->begin = get_u64(&at);
        index->end = get_u64(&at);
        index->discarded = get_u64(&at);
        index->class_id = get_u64(&at);
        reply->status = get_u32(&at);
        reply->flags = get_u32(&at);
        return INDEX_SIZE;
}

/* The bytes after a head of SIZE; none if the head reports a failure. */
static ssize_t reply_bytes(const uint8_t *bytes, size_t n, size_t size, uint64_t n_bytes,
                           uint64_t most, bool has_bytes, ViewerReply *reply)
{
        if (!has_bytes)
                return (ssize_t)size;
        if (n_bytes > most)
                return -EBADMSG;
        if (n - size < n_bytes)
                return 0;
        reply->bytes = bytes + size;
        reply->n_bytes = (size_t)n_bytes;
        return (ssize_t)(size + n_bytes);
}

static ssize_t reply_head(ViewerParser *parser, ViewerCommand command, const uint8_t *bytes,
                          size_t n, ViewerReply *reply)
{
        const uint8_t *at = bytes;
        uint64_t n_bytes;

        reply->is_last = true;
        switch (command) {
        case VIEWER_CONNECT:
                get_u64(&at);
                reply->major = get_u32(&at);
                reply->minor = get_u32(&at);
                parser->minor = MIN(reply->minor, VIEWER_MINOR);
                return CONNECT_SIZE;
        case VIEWER_LIST_SESSIONS:
                return reply_begin_rows(parser, 0, get_u32(&at), LIST_SIZE, reply);
        case VIEWER_ATTACH_SESSION:
        case VIEWER_GET_NEW_STREAMS: {
                uint32_t status = get_u32(&at), n_rows = get_u32(&at);

                /* Both have 1 for success: without it there are no rows. */
                return reply_begin_rows(parser, status, status == VIEWER_ATTACH_OK ? n_rows : 0,
                                        STREAMS_SIZE, reply);
        }
        case VIEWER_GET_NEXT_INDEX:
                return reply_index(at, reply);
        case VIEWER_GET_PACKET:
                reply->status = get_u32(&at);
                n_bytes = get_u32(&at);
                reply->flags = get_u32(&at);
                return reply_bytes(bytes, n, PACKET_SIZE, n_bytes, VIEWER_MAX_PACKET,
                                   reply->status == VIEWER_PACKET_OK, reply);
        case VIEWER_GET_METADATA:
                n_bytes = get_u64(&at);
                reply->status = get_u32(&at);
                return reply_bytes(bytes, n, METADATA_SIZE, n_bytes, VIEWER_MAX_METADATA,
                                   reply->status == VIEWER_METADATA_OK, reply);
        case VIEWER_CREATE_SESSION:
        case VIEWER_DETACH_SESSION:
                reply->status = get_u32(&at);
                return STATUS_SIZE;
        case _VIEWER_COMMAND_MAX:
                break;
        }
        g_return_val_if_reached(-EBADMSG);
}

ssize_t viewer_reply_next(ViewerParser *parser, ViewerCommand command, const uint8_t *bytes,
                          size_t n, ViewerReply *ret_reply)
{
        static const size_t SIZES[_VIEWER_COMMAND_MAX] = {
                [VIEWER_CONNECT] = CONNECT_SIZE,         [VIEWER_LIST_SESSIONS] = LIST_SIZE,
                [VIEWER_ATTACH_SESSION] = STREAMS_SIZE,  [VIEWER_GET_NEXT_INDEX] = INDEX_SIZE,
                [VIEWER_GET_PACKET] = PACKET_SIZE,       [VIEWER_GET_METADATA] = METADATA_SIZE,
                [VIEWER_GET_NEW_STREAMS] = STREAMS_SIZE, [VIEWER_CREATE_SESSION] = STATUS_SIZE,
                [VIEWER_DETACH_SESSION] = STATUS_SIZE,
        };

        *ret_reply = (ViewerReply){0};
        if (parser->has_head)
                return command == VIEWER_LIST_SESSIONS ? reply_session(parser, bytes, n, ret_reply)
                                                       : reply_stream(parser, bytes, n, ret_reply);
        return n < SIZES[command] ? 0 : reply_head(parser, command, bytes, n, ret_reply);
}
