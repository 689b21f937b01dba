/* SPDX-License-Identifier: MIT */
#include "feed/nettrace-feed.h"

#include "nettrace/file.h"
#include "util/fd.h"
#include "util/unix-socket.h"
#include "wire/ingest-client.h"
#include "wire/program-names.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#define NETTRACE_FEED_ERROR (g_quark_from_static_string("clrsym-feed"))

#define READ_SIZE (64u << 10)

typedef struct NettraceFeed {
        const char *socket, *path;
        NettraceFile file;
        NettraceReader *reader; /* owned */
        IngestClient *client;   /* owned */
        IngestStream *stream;   /* borrowed; NULL: the file's header has not come yet */
        int fd;                 /* to the daemon; -1: none */
        GByteArray *out;        /* owned */
        ProgramNames programs;
        uint64_t n_too_large; /* records that no frame can hold */
        NettraceFeedResult result;
} NettraceFeed;

static bool feed_fail(const NettraceFeed *feed, GError **error, const char *reason)
{
        g_set_error(error, NETTRACE_FEED_ERROR, 0, "the daemon at %s: %s", feed->socket, reason);
        return false;
}

/* The daemon */

static bool feed_connect(NettraceFeed *feed, GError **error)
{
        feed->fd = unix_connect(feed->socket, SOCK_NONBLOCK, UNIX_WAIT_FOREVER);
        if (feed->fd < 0) {
                g_set_error(error, NETTRACE_FEED_ERROR, 0,
                            "no daemon at %s (%s): start clrsymd, or give --socket PATH",
                            feed->socket, unix_socket_reason(feed->fd));
                feed->fd = -1;
                return false;
        }
        ingest_client_connect(feed->client, feed->out);
        return true;
}

/* Sends what the socket takes. False: the daemon has gone. */
static bool feed_send(NettraceFeed *feed)
{
        ssize_t n;

        if (!feed->out->len)
                return true;
        n = send(feed->fd, feed->out->data, feed->out->len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0)
                return errno == EAGAIN || errno == EINTR;
        g_byte_array_remove_range(feed->out, 0, (guint)n);
        return true;
}

/* Takes what has come. False: the daemon has gone. */
static bool feed_receive(NettraceFeed *feed)
{
        uint8_t bytes[READ_SIZE];
        ssize_t n = recv(feed->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

        if (n > 0)
                ingest_client_feed(feed->client, bytes, (size_t)n);
        return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

/* False with ERROR set: the daemon refuses, or does not speak the protocol. */
static bool feed_take_answers(NettraceFeed *feed, GError **error)
{
        IngestClientEvent event;
        IngestStream *stream;

        do {
                event = ingest_client_next(feed->client, &stream);
                if (event == INGEST_CLIENT_BROKEN)
                        return feed_fail(feed, error, ingest_client_reason(feed->client));
        } while (event != INGEST_CLIENT_NOTHING);
        return true;
}

/* Waits until the daemon takes bytes or has sent some. False with ERROR set. */
static bool feed_exchange(NettraceFeed *feed, GError **error)
{
        struct pollfd fd = {.fd = feed->fd, .events = POLLIN};

        if (feed->out->len)
                fd.events |= POLLOUT;
        if (poll(&fd, 1, -1) < 0)
                return errno == EINTR || feed_fail(feed, error, g_strerror(errno));
        if (!feed_send(feed) || !feed_receive(feed))
                return feed_fail(feed, error,
                                 "it has gone. Feed the file again; what it has it keeps");
        return feed_take_answers(feed, error);
}

static bool feed_commit(NettraceFeed *feed, GError **error)
{
        ingest_client_commit(feed->client, ingest_client_batch(feed->client)->len,
                             /* last= */ NULL);
        while (!ingest_client_may_send(feed->client))
                if (!feed_exchange(feed, error))
                        return false;
        return true;
}

/* The file */

/* The stream begins with the session. Waits for what the daemon has of it. */
static bool feed_open(NettraceFeed *feed, GError **error)
{
        const NettraceHeader *header = nettrace_reader_header(feed->reader);
        g_autoptr(StreamIdentity) identity = NULL;

        if (feed->stream || !header)
                return true;
        identity = nettrace_header_identity(header);
        feed->stream = ingest_client_open(feed->client, identity, /* data= */ NULL);
        while (!ingest_client_is_ready(feed->client))
                if (!feed_exchange(feed, error))
                        return false;
        ingest_put_progress(ingest_client_batch(feed->client), feed->stream->number, header->begin);
        return true;
}

static bool feed_put(NettraceFeed *feed, const Record *record, GError **error)
{
        feed->result.n_records++;
        if (record->time <= feed->stream->watermark) {
                feed->result.n_known++;
                return true;
        }
        if (ingest_client_is_due(feed->client, (int64_t)record->time) && !feed_commit(feed, error))
                return false;
        switch (ingest_client_put_record(feed->client, feed->stream, record,
                                         (int64_t)record->time)) {
        case INGEST_PUT_DONE:
                break;
        case INGEST_PUT_TOO_LARGE:
                feed->n_too_large++;
                return true;
        case INGEST_PUT_BATCH_FULL:
                g_set_error(error, NETTRACE_FEED_ERROR, 0,
                            "%s: more than 64 MiB of events have the same time: its clock does not "
                            "work",
                            feed->path);
                return false;
        }
        if (program_names_note(&feed->programs, record))
                ingest_put_program(ingest_client_batch(feed->client), feed->stream->number, record);
        return true;
}

/* Empties the reader. */
static bool feed_take(NettraceFeed *feed, GError **error)
{
        NettraceItem item;
        Record record;
        StreamGap gap;

        while ((item = nettrace_reader_next(feed->reader, &record, &gap)) != NETTRACE_ITEM_NONE)
                if (item == NETTRACE_ITEM_GAP) {
                        feed->result.n_gaps++;
                        ingest_put_gap(ingest_client_batch(feed->client), feed->stream->number,
                                       &gap);
                } else if (!feed_put(feed, &record, error)) {
                        return false;
                }
        return true;
}

/* It is known up to its last promise, not to the end of its process. */
static bool feed_end(NettraceFeed *feed, GError **error)
{
        GByteArray *batch = ingest_client_batch(feed->client);
        FeederReport report;

        nettrace_reader_report(feed->reader, &report);
        report.decode_errors += feed->n_too_large;
        ingest_put_progress(batch, feed->stream->number, nettrace_reader_horizon(feed->reader));
        ingest_put_stream_close(batch, feed->stream->number);
        ingest_put_report(batch, &report);
        if (!feed_commit(feed, error))
                return false;
        while (ingest_client_n_in_flight(feed->client) > 0)
                if (!feed_exchange(feed, error))
                        return false;
        return true;
}

static bool feed_file(NettraceFeed *feed, GError **error)
{
        NettraceFileResult result;

        do {
                result = nettrace_file_push(&feed->file, feed->reader, error);
                if (result == NETTRACE_FILE_ERROR) {
                        g_prefix_error(error, "%s: ", feed->path);
                        return false;
                }
                if (!feed_open(feed, error) || !feed_take(feed, error))
                        return false;
        } while (result == NETTRACE_FILE_MORE);
        if (feed->stream)
                return feed_end(feed, error);
        g_set_error(error, NETTRACE_FEED_ERROR, 0, "%s: it ends before its first block",
                    feed->path);
        return false;
}

bool nettrace_feed_run(const char *socket, int fd, const char *path, bool jit_events,
                       NettraceFeedResult *ret_result, GError **error)
{
        NettraceFeed feed = {.socket = socket, .path = path, .fd = -1};
        bool ok;

        if (!nettrace_file_init(&feed.file, fd, error)) {
                g_prefix_error(error, "%s: ", path);
                return false;
        }
        feed.reader = nettrace_reader_new(jit_events ? EVENT_USE_JIT : EVENT_USE_CODE_MAPS);
        feed.client = ingest_client_new("clrsym feed " CLRSYM_VERSION, /* keeps_batches= */ false);
        feed.out = g_byte_array_new();
        ok = feed_connect(&feed, error) && feed_file(&feed, error);
        *ret_result = feed.result;
        ingest_client_disconnect(feed.client);
        ingest_client_free(feed.client);
        program_names_clear(&feed.programs);
        g_byte_array_unref(feed.out);
        fd_clear(&feed.fd);
        nettrace_reader_free(feed.reader);
        nettrace_file_deinit(&feed.file);
        return ok;
}
