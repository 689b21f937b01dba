/* SPDX-License-Identifier: MIT */
#include "feed/path-feed.h"

#include "reader/event-reader.h"
#include "util/unix-socket.h"
#include "wire/ingest-uplink.h"

#define PATH_FEED_ERROR (g_quark_from_static_string("clrsym-feed"))

typedef struct PathFeed {
        const char *socket, *path;
        EventReader *reader;  /* owned */
        IngestUplink *uplink; /* owned */
        IngestClient *client; /* borrowed from the uplink */
        GPtrArray *streams;   /* owned, of borrowed IngestStreams by number; NULL: not open */
        bool is_opening;      /* the daemon may not have answered for all streams yet */
        bool has_streams;     /* at least one was opened */
        uint64_t n_too_large; /* records that are too large for a frame */
        PathFeedResult result;
} PathFeed;

static bool feed_fail(const PathFeed *feed, GError **error, const char *reason)
{
        g_set_error(error, PATH_FEED_ERROR, 0, "the daemon at %s: %s", feed->socket, reason);
        return false;
}

/* The daemon */

static bool feed_connect(PathFeed *feed, GError **error)
{
        const int r = ingest_uplink_connect(feed->uplink, feed->socket, UNIX_WAIT_FOREVER);

        if (r < 0) {
                g_autofree char *message =
                        ingest_uplink_explain(feed->socket, r, "--ingest-socket PATH");

                g_set_error_literal(error, PATH_FEED_ERROR, 0, message);
        }
        return r == 0;
}

/* Waits until the daemon takes bytes or has sent some. False with ERROR set. */
static bool feed_exchange(PathFeed *feed, GError **error)
{
        switch (ingest_uplink_exchange(feed->uplink, /* timeout_ms= */ -1)) {
        case INGEST_UPLINK_GONE:
                return feed_fail(feed, error,
                                 "it has ended. Start it, and feed the file again; acknowledged "
                                 "events are safe");
        case INGEST_UPLINK_BROKEN:
                return feed_fail(feed, error, ingest_client_reason(feed->client));
        default:
                return true;
        }
}

static bool feed_commit(PathFeed *feed, GError **error)
{
        ingest_client_commit(feed->client, ingest_client_batch(feed->client)->len,
                             /* last= */ NULL);
        while (!ingest_client_may_send(feed->client))
                if (!feed_exchange(feed, error))
                        return false;
        return true;
}

/* The events */

static bool feed_open(PathFeed *feed, const EventItem *item, GError **error)
{
        IngestStream *stream = ingest_client_open(feed->client, item->identity, /* data= */ NULL);

        if (!stream) {
                g_set_error(error, PATH_FEED_ERROR, 0,
                            "%s: more than %u streams: name a directory with fewer traces",
                            feed->path, INGEST_MAX_STREAMS);
                return false;
        }
        if (item->stream >= feed->streams->len)
                g_ptr_array_set_size(feed->streams, (gint)item->stream + 1);
        feed->streams->pdata[item->stream] = stream;
        feed->is_opening = feed->has_streams = true;
        return true;
}

/* Waits for the watermarks of the streams. */
static bool feed_await_streams(PathFeed *feed, GError **error)
{
        while (feed->is_opening && !ingest_client_is_ready(feed->client))
                if (!feed_exchange(feed, error))
                        return false;
        feed->is_opening = false;
        return true;
}

static bool feed_put(PathFeed *feed, const IngestStream *stream, const EventItem *item,
                     GError **error)
{
        const Record *record = &item->record;

        feed->result.n_records++;
        if (record->time <= stream->watermark) {
                feed->result.n_known++;
                return true;
        }
        if (ingest_client_is_due(feed->client, item->order) && !feed_commit(feed, error))
                return false;
        switch (ingest_client_put_record(feed->client, stream, record, item->order)) {
        case INGEST_PUT_DONE:
                break;
        case INGEST_PUT_TOO_LARGE:
                feed->n_too_large++;
                return true;
        case INGEST_PUT_BATCH_FULL:
                g_set_error(error, PATH_FEED_ERROR, 0,
                            "%s: more than 64 MiB of events have the same time: its clock does not "
                            "work",
                            feed->path);
                return false;
        }
        return true;
}

/* Skips items of streams that are not open. */
static bool feed_take(PathFeed *feed, const EventItem *item, GError **error)
{
        GByteArray *batch = ingest_client_batch(feed->client);
        IngestStream *stream =
                item->stream < feed->streams->len ? feed->streams->pdata[item->stream] : NULL;

        if (item->type == EVENT_ITEM_OPEN)
                return feed_open(feed, item, error);
        if (!feed_await_streams(feed, error))
                return false;
        if (item->type == EVENT_ITEM_PROCESS_GAP)
                ingest_put_process_gap(batch, &item->process_gap);
        else if (stream)
                switch (item->type) {
                case EVENT_ITEM_RECORD:
                        return feed_put(feed, stream, item, error);
                case EVENT_ITEM_PROGRAM:
                        ingest_put_program(batch, stream->number, &item->record);
                        break;
                case EVENT_ITEM_GAP:
                        feed->result.n_gaps++;
                        ingest_put_gap(batch, stream->number, &item->gap);
                        break;
                case EVENT_ITEM_PROGRESS:
                        ingest_put_progress(batch, stream->number, item->time);
                        break;
                case EVENT_ITEM_CLOSE:
                        ingest_put_stream_close(batch, stream->number);
                        feed->streams->pdata[item->stream] = NULL;
                        break;
                default:
                        break;
                }
        return true;
}

static bool feed_end(PathFeed *feed, GError **error)
{
        FeederReport report;

        event_reader_report(feed->reader, &report);
        report.decode_errors += feed->n_too_large;
        ingest_put_report(ingest_client_batch(feed->client), &report);
        if (!feed_commit(feed, error))
                return false;
        while (ingest_client_n_in_flight(feed->client) > 0)
                if (!feed_exchange(feed, error))
                        return false;
        return true;
}

static bool feed_events(PathFeed *feed, GError **error)
{
        EventBatch *batch;
        size_t i;

        do {
                batch = event_reader_next(feed->reader);
                for (i = 0; i < batch->n_items; i++)
                        if (!feed_take(feed, &batch->items[i], error))
                                return false;
                if (batch->result == EVENT_READ_ERROR) {
                        g_propagate_error(error, g_steal_pointer(&batch->error));
                        return false;
                }
        } while (batch->result == EVENT_READ_MORE);
        if (feed->has_streams)
                return feed_await_streams(feed, error) && feed_end(feed, error);
        g_set_error(error, PATH_FEED_ERROR, 0, "%s: it ends before its first event", feed->path);
        return false;
}

bool path_feed_run(const char *socket, const char *path, bool jit_events,
                   PathFeedResult *ret_result, GError **error)
{
        PathFeed feed = {.socket = socket, .path = path};
        bool ok;

        feed.reader =
                event_reader_new(path, jit_events ? EVENT_USE_JIT : EVENT_USE_CODE_MAPS, error);
        if (!feed.reader)
                return false;
        feed.uplink = ingest_uplink_new("clrsym feed " CLRSYM_VERSION, /* keeps_batches= */ false);
        feed.client = ingest_uplink_client(feed.uplink);
        feed.streams = g_ptr_array_new();
        ok = feed_connect(&feed, error) && feed_events(&feed, error);
        *ret_result = feed.result;
        ingest_uplink_free(feed.uplink);
        g_ptr_array_unref(feed.streams);
        event_reader_free(feed.reader);
        return ok;
}
