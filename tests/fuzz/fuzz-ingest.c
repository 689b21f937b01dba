/* SPDX-License-Identifier: MIT */

/* A feeder's frames into the daemon's side of a connection, and into a tracker. */

#include "frames.h"
#include "known.h"
#include "wire/ingest-connection.h"

enum { SMALL_BUDGET = 64 << 10, MAX_RUNS = 10000 };

/* Feeds bytes as a peer does. Returns false at the end of the conversation. */
static bool feed(IngestConnection *connection, const uint8_t *bytes, size_t n)
{
        unsigned n_runs = 0;

        ingest_connection_feed(connection, bytes, n);
        while (!ingest_connection_run(connection))
                FUZZ_REQUIRE(++n_runs < MAX_RUNS);
        return !ingest_connection_error(connection);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        FuzzInput input = {data, size};
        uint8_t flags = (uint8_t)fuzz_take(&input, 1);
        size_t n_piece = 1 + (size_t)fuzz_take(&input, 1) * 16, at;
        g_autoptr(GByteArray) frames = g_byte_array_new();
        IngestConnection *connection;
        Tracker *tracker;

        if (size > FUZZ_MAX_INPUT)
                return 0;
        tracker = tracker_new();
        if (flags & 1)
                tracker_set_budget(tracker, SMALL_BUDGET);
        connection = ingest_connection_new(tracker, flags & 2);
        if (flags & 8)
                ingest_connection_set_turn(connection, 1);
        if (!(flags & 4))
                ingest_put_hello(frames, INGEST_VERSION, "fuzz");
        while (input.n > 0)
                fuzz_take_frame(&input, frames);
        for (at = 0; at < frames->len; at += n_piece)
                if (!feed(connection, frames->data + at, MIN(n_piece, frames->len - at)))
                        break;
        FUZZ_REQUIRE((at < frames->len) == (ingest_connection_error(connection) != NULL));
        ingest_connection_free(connection);
        known_check(tracker);
        tracker_free(tracker);
        return 0;
}
