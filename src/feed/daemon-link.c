/* SPDX-License-Identifier: MIT */
#include "feed/daemon-link.h"

#include "util/byte-pump.h"
#include "util/unix-socket.h"
#include "wire/ingest-client.h"

#include <sys/socket.h>

#define DAEMON_LINK_ERROR (g_quark_from_static_string("clrsym-feed"))

struct DaemonLink {
        const DaemonLinkCalls *calls;
        void *data;
        IngestClient *client; /* owned */
        BytePump *channel;    /* owned; NULL: not connected */
};

DaemonLink *daemon_link_new(const DaemonLinkCalls *calls, void *data)
{
        DaemonLink *link = g_new0(DaemonLink, 1);

        link->calls = calls;
        link->data = data;
        link->client = ingest_client_new("clrsym feed " CLRSYM_VERSION, false);
        return link;
}

void daemon_link_free(DaemonLink *link)
{
        if (!link)
                return;
        daemon_link_disconnect(link);
        ingest_client_free(link->client);
        g_free(link);
}

static void link_on_ack(const IngestStream *own)
{
        FeedStream *stream = own->data;

        if (stream->state == STREAM_ASKED)
                stream->state = STREAM_KNOWN;
        stream->watermark = MAX(stream->watermark, own->watermark);
}

/* False: the connection is broken. */
static bool link_take_event(IngestClientEvent event, const IngestStream *stream)
{
        switch (event) {
        case INGEST_CLIENT_NOTHING:
        case INGEST_CLIENT_GREETED:
        case INGEST_CLIENT_COMMITTED:
        case INGEST_CLIENT_CREDIT:
                return true;
        case INGEST_CLIENT_BROKEN:
                return false;
        case INGEST_CLIENT_ACK:
                link_on_ack(stream);
                return true;
        }
        g_return_val_if_reached(false);
}

static void link_on_input(void *data)
{
        DaemonLink *link = data;
        GByteArray *input = byte_pump_input(link->channel);
        IngestClientEvent event;
        IngestStream *stream;

        ingest_client_feed(link->client, input->data, input->len);
        g_byte_array_set_size(input, 0);
        do {
                event = ingest_client_next(link->client, &stream);
                if (!link_take_event(event, stream)) {
                        g_autofree char *reason = g_strdup(ingest_client_reason(link->client));

                        link->calls->lost(link->data, reason);
                        return;
                }
        } while (event != INGEST_CLIENT_NOTHING);
        link->calls->progressed(link->data);
}

static void link_on_closed(void *data)
{
        DaemonLink *link = data;

        link->calls->lost(link->data, "it has gone");
}

static const BytePumpCalls CHANNEL_CALLS = {
        .input = link_on_input,
        .closed = link_on_closed,
};

bool daemon_link_connect(DaemonLink *link, const char *path, GError **error)
{
        int fd = unix_connect(path, SOCK_NONBLOCK, 0);

        if (fd < 0) {
                g_set_error(error, DAEMON_LINK_ERROR, 0,
                            "no daemon at %s (%s): start clrsymd, or give --socket PATH", path,
                            unix_socket_reason(fd));
                return false;
        }
        link->channel = byte_pump_new(fd, &CHANNEL_CALLS, link);
        ingest_client_connect(link->client, byte_pump_output(link->channel));
        byte_pump_flush(link->channel);
        return true;
}

void daemon_link_disconnect(DaemonLink *link)
{
        ingest_client_disconnect(link->client);
        g_clear_pointer(&link->channel, byte_pump_free);
}

bool daemon_link_is_ready(const DaemonLink *link)
{
        return ingest_client_is_ready(link->client);
}

bool daemon_link_may_go(const DaemonLink *link)
{
        return ingest_client_state(link->client) == INGEST_CLIENT_GOING;
}

unsigned daemon_link_n_in_flight(const DaemonLink *link)
{
        return ingest_client_n_in_flight(link->client);
}

bool daemon_link_open(DaemonLink *link, FeedStream *stream)
{
        const IngestStream *own = ingest_client_open(link->client, stream->identity, stream);

        if (!own)
                return false;
        stream->number = own->number;
        stream->state = STREAM_ASKED;
        return true;
}

void daemon_link_commit(DaemonLink *link, const uint8_t *frames, size_t n)
{
        ingest_client_commit_frames(link->client, frames, n);
        byte_pump_flush(link->channel);
}

void daemon_link_flush(DaemonLink *link)
{
        if (link->channel)
                byte_pump_flush(link->channel);
}
