/* SPDX-License-Identifier: MIT */

/*
 * A daemon's frames into a feeder's side of a connection, and the feeder's actions in between: u8
 * step, and for STEP_RECEIVE a frame.
 */

#include "frames.h"
#include "wire/ingest-client.h"

enum {
        STEP_OPEN,
        STEP_CLOSE,
        STEP_PROGRESS,
        STEP_COMMIT,
        STEP_RECONNECT,
        STEP_RECEIVE, /* and all other values */
        N_STEPS = 10,
};

static void take_events(IngestClient *client)
{
        IngestClientEvent event;
        IngestStream *stream;

        do {
                stream = NULL;
                event = ingest_client_next(client, &stream);
                FUZZ_REQUIRE((event == INGEST_CLIENT_ACK) == (stream != NULL));
                FUZZ_REQUIRE((event == INGEST_CLIENT_BROKEN) ==
                             (ingest_client_state(client) == INGEST_CLIENT_FAILED));
        } while (event != INGEST_CLIENT_NOTHING && event != INGEST_CLIENT_BROKEN);
        FUZZ_REQUIRE((event == INGEST_CLIENT_BROKEN) == (ingest_client_reason(client) != NULL));
}

static void take_step(IngestClient *client, GByteArray *out, FuzzInput *input)
{
        uint8_t step = (uint8_t)fuzz_take(input, 1) % N_STEPS;
        g_autoptr(StreamIdentity) identity = stream_identity_new();
        g_autoptr(GByteArray) frame = g_byte_array_new();
        GByteArray *batch = ingest_client_batch(client);
        const IngestStream *stream = NULL;

        if (step == STEP_CLOSE || step == STEP_PROGRESS)
                stream = ingest_client_stream(client, (uint32_t)fuzz_take(input, 1));
        switch (step) {
        case STEP_OPEN:
                ingest_client_open(client, identity, NULL);
                break;
        case STEP_CLOSE:
                if (stream)
                        ingest_put_stream_close(batch, stream->number);
                break;
        case STEP_PROGRESS:
                if (stream)
                        ingest_put_progress(batch, stream->number, fuzz_take(input, 8));
                break;
        case STEP_COMMIT:
                ingest_client_commit(client, batch->len, NULL);
                break;
        case STEP_RECONNECT:
                ingest_client_disconnect(client);
                g_byte_array_set_size(out, 0);
                ingest_client_connect(client, out);
                break;
        default:
                fuzz_take_frame(input, frame);
                ingest_client_feed(client, frame->data, frame->len);
        }
        take_events(client);
        FUZZ_REQUIRE(!ingest_client_may_send(client) ||
                     ingest_client_n_in_flight(client) < INGEST_CLIENT_MAX_IN_FLIGHT);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        FuzzInput input = {data, size};
        g_autoptr(GByteArray) out = g_byte_array_new();
        g_autoptr(IngestClient) client = NULL;
        IngestFrame frame;
        size_t at = 0;

        if (size > FUZZ_MAX_INPUT)
                return 0;
        client = ingest_client_new("fuzz", fuzz_take(&input, 1) & 1);
        ingest_client_connect(client, out);
        while (input.n > 0)
                take_step(client, out, &input);
        /* The client's output consists of complete frames, whatever the daemon sent. */
        while (at < out->len) {
                ssize_t n = ingest_frame_next(out->data + at, out->len - at, &frame);

                FUZZ_REQUIRE(n > 0);
                at += (size_t)n;
        }
        return 0;
}
