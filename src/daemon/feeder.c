/* SPDX-License-Identifier: MIT */
#include "daemon/feeder.h"

/* Bytes of acknowledgements that a feeder may leave unread. */
#define MAX_UNREAD_ACKS (1u << 20)

struct Feeder {
        IngestSession *session;
        JournalConnection *connection; /* or NULL */
        QueryStats *stats;             /* borrowed */
        IngestReport reported;         /* is in STATS */
        void (*committed)(void *data);
        void *data;
};

Feeder *feeder_new(Tracker *tracker, Journal *journal, QueryStats *stats,
                   void (*committed)(void *data), void *data)
{
        Feeder *feeder = g_new(Feeder, 1);

        *feeder = (Feeder){.session = ingest_session_new(tracker, false),
                           .stats = stats,
                           .committed = committed,
                           .data = data};
        if (journal)
                feeder->connection = journal_connect(journal, feeder->session);
        return feeder;
}

const IngestSession *feeder_session(const Feeder *feeder)
{
        return feeder->session;
}

static void feeder_feed(void *data, const uint8_t *bytes, size_t n)
{
        Feeder *feeder = data;
        const IngestReport *report = ingest_session_report(feeder->session);
        uint64_t n_commits = ingest_session_n_commits(feeder->session);

        ingest_session_feed(feeder->session, bytes, n);
        feeder->stats->decode_errors += report->decode_errors - feeder->reported.decode_errors;
        feeder->stats->unknown_events += report->unknown_events - feeder->reported.unknown_events;
        feeder->reported = *report;
        if (ingest_session_n_commits(feeder->session) != n_commits)
                feeder->committed(feeder->data);
}

static int feeder_run(void *session, int64_t now_ms)
{
        return -1;
}

/* One that does not read what it is told is not listened to either. */
static bool feeder_wants_input(void *data)
{
        return ingest_session_output(((Feeder *)data)->session)->len <= MAX_UNREAD_ACKS;
}

static bool feeder_is_over(void *data)
{
        return ingest_session_error(((Feeder *)data)->session) != NULL;
}

/* It may be quiet in the middle of a batch. */
static bool feeder_is_partial(void *data)
{
        return false;
}

static const uint8_t *feeder_output(void *data, size_t *ret_n)
{
        const GByteArray *output = ingest_session_output(((Feeder *)data)->session);

        *ret_n = output->len;
        return output->data;
}

static void feeder_sent(void *data, size_t n)
{
        g_byte_array_remove_range(ingest_session_output(((Feeder *)data)->session), 0, (guint)n);
}

static void feeder_free(void *data)
{
        Feeder *feeder = data;

        if (feeder->connection)
                journal_disconnect(feeder->connection);
        ingest_session_free(feeder->session);
        g_free(feeder);
}

const PeerRole FEEDER_ROLE = {
        .name = "ingest",
        /* Some hundred records: that long a question waits behind them. */
        .read_size = 16 << 10,
        .feed = feeder_feed,
        .run = feeder_run,
        .wants_input = feeder_wants_input,
        .is_over = feeder_is_over,
        .is_partial = feeder_is_partial,
        .output = feeder_output,
        .sent = feeder_sent,
        .free = feeder_free,
};
