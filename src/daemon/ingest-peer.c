/* SPDX-License-Identifier: MIT */
#include "daemon/ingest-peer.h"

/* us of applying a batch before other peers' turn. */
#define TURN_US 2000

struct IngestPeer {
        IngestPeerOptions options;
        Peer *peer;                   /* owned */
        IngestConnection *connection; /* owned */
        JournalConnection *record;    /* or NULL */
        FeederReport reported;        /* the report added to the stats */
        uint64_t n_pieces;            /* pieces already reported by `committed` */
        uid_t uid;
        bool has_place;
        bool is_waiting; /* for a place, and `waits` was called */
};

static void ingest_peer_moved(void *data)
{
        IngestPeer *self = data;
        QueryStats *stats = self->options.stats;
        const FeederReport *report = ingest_connection_report(self->connection);
        uint64_t n_pieces = ingest_connection_n_pieces(self->connection);

        stats->decode_errors += report->decode_errors - self->reported.decode_errors;
        stats->unknown_events += report->unknown_events - self->reported.unknown_events;
        stats->later_events += report->later_events - self->reported.later_events;
        self->reported = *report;
        if (ingest_connection_wants_place(self->connection) && !self->is_waiting) {
                self->is_waiting = true;
                self->options.waits(self, self->options.data);
        }
        if (self->n_pieces == n_pieces)
                return;
        self->n_pieces = n_pieces;
        self->options.committed(self->options.data);
}

static void ingest_peer_gone(Peer *peer, void *data)
{
        IngestPeer *self = data;

        self->options.gone(self, self->options.data);
}

static const PeerRole INGEST_ROLE = {
        .name = "ingest",
        .gone = ingest_peer_gone,
        .moved = ingest_peer_moved,
        /* A few hundred records: a question waits while they are applied. */
        .read_size = 16 << 10,
        .gives_way = true,
        .finishes = true,
};

IngestPeer *ingest_peer_new(int fd, const IngestPeerOptions *options)
{
        IngestPeer *self = g_new0(IngestPeer, 1);
        PeerCredentials credentials = {.uid = (uid_t)-1};

        peer_credentials(fd, PEER_NO_GROUP, &credentials);
        self->uid = credentials.uid;
        self->options = *options;
        self->connection = ingest_connection_new(options->tracker, false);
        ingest_connection_set_turn(self->connection, TURN_US);
        ingest_connection_await_place(self->connection);
        if (options->journal)
                self->record = journal_connect(options->journal, self->connection);
        self->peer =
                peer_new(fd, &INGEST_ROLE, ingest_connection_conversation(self->connection), self);
        return self;
}

void ingest_peer_free(IngestPeer *self)
{
        if (!self)
                return;
        peer_free(self->peer);
        if (self->record)
                journal_disconnect(self->record);
        ingest_connection_free(self->connection);
        g_free(self);
}

Peer *ingest_peer_peer(const IngestPeer *self)
{
        return self->peer;
}

const IngestConnection *ingest_peer_connection(const IngestPeer *self)
{
        return self->connection;
}

uid_t ingest_peer_uid(const IngestPeer *self)
{
        return self->uid;
}

bool ingest_peer_has_place(const IngestPeer *self)
{
        return self->has_place;
}

void ingest_peer_give_place(IngestPeer *self)
{
        /*
         * A feeder that has sent nothing yet gets its turn with its first bytes, after peers that
         * hang up.
         */
        const bool is_waited_for = ingest_connection_wants_place(self->connection) ||
                                   ingest_connection_output(self->connection)->len > 0;

        self->has_place = true;
        self->is_waiting = false;
        ingest_connection_give_place(self->connection);
        if (is_waited_for)
                peer_wake(self->peer);
}
