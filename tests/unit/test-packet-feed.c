/* SPDX-License-Identifier: MIT */

/* Losses between packets, which a stream gets from disk and from the live reader */

#include "support/lone-feed.h"
#include "support/suite.h"

#include <string.h>

static const char METADATA[] =
        "/* CTF 1.8 */\n"
        "typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
        "typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
        "trace {\n major = 1;\n minor = 8;\n byte_order = le;\n"
        " uuid = \"a3fee628-c3c5-4355-be53-29b7a4cc3e59\";\n"
        " packet.header := struct { uint32_t magic; uint32_t stream_id; };\n};\n"
        "clock {\n name = \"monotonic\";\n freq = 1000000000;\n};\n"
        "typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } "
        ":= time_t;\n"
        "stream {\n id = 0;\n"
        " event.header := struct { uint32_t id; time_t timestamp; };\n"
        " packet.context := struct { time_t timestamp_begin; time_t timestamp_end; "
        "uint64_t content_size; uint64_t packet_size; uint64_t packet_seq_num; "
        "uint64_t events_discarded; };\n};\n";

/* A packet without events. Number N is from 100 * N to 100 * N + 99 ns. */
typedef struct __attribute__((packed)) Bytes {
        uint32_t magic, stream_id;
        uint64_t begin, end, content_bits, packet_bits, sequence, discarded;
} Bytes;

/* BEGIN: the packet is fed. PASS: the packet was fed before. */
typedef enum Action {
        BEGIN,
        PASS,
} Action;

typedef struct Step {
        Action action;
        unsigned number;              /* in order of time */
        unsigned discarded;           /* events up to the packet's end, by the tracer */
        unsigned n_packets, n_events; /* losses before this packet, by the reader */
} Step;

static const struct {
        const char *what;
        Step steps[6];
        unsigned n_steps;
} ROWS[] = {
        {"in order",
         {{BEGIN, 1, 0, 0, 0}, {BEGIN, 2, 0, 0, 0}, {PASS, 3, 0, 0, 0}, {BEGIN, 4, 0, 0, 0}},
         4},
        {"packets are lost",
         {{BEGIN, 1, 0, 0, 0}, {BEGIN, 4, 0, 2, 0}, {PASS, 5, 0, 0, 0}, {BEGIN, 7, 0, 1, 0}},
         4},
        {"events are lost",
         {{BEGIN, 1, 0, 0, 0}, {BEGIN, 2, 3, 0, 3}, {PASS, 3, 5, 0, 0}, {BEGIN, 4, 7, 0, 2}},
         4},
        {"the live reader is behind, and is cut",
         {{BEGIN, 1, 0, 0, 0},
          {BEGIN, 2, 0, 0, 0},
          {BEGIN, 3, 2, 0, 2},
          {PASS, 1, 0, 0, 0},
          {BEGIN, 4, 2, 0, 0}},
         5},
        {"the live reader is behind, and comes after",
         {{BEGIN, 1, 0, 0, 0},
          {BEGIN, 2, 0, 0, 0},
          {PASS, 1, 0, 0, 0},
          {PASS, 2, 0, 0, 0},
          {PASS, 3, 0, 0, 0},
          {BEGIN, 4, 0, 0, 0}},
         6},
        {"a packet is read again",
         {{BEGIN, 1, 0, 0, 0}, {BEGIN, 2, 0, 0, 0}, {BEGIN, 2, 0, 0, 0}, {BEGIN, 3, 0, 0, 0}},
         4},
};

/* Feeds the packet. RET_LOST: lost packets and events before it, by the reader. */
static void feed_packet(PacketFeed *feed, FeedStream *stream, const FeedPacket *packet,
                        uint64_t ret_lost[2])
{
        const CtfDataStream *data = stream->data;
        bool has_item = packet_feed_begin(feed, OUTLET_DISK, stream, packet);

        ck_assert(has_item);
        for (; has_item; has_item = packet_feed_take(feed, OUTLET_DISK, stream)) {
                if (data->item == CTF_ITEM_DISCARDED_PACKETS)
                        ret_lost[0] += data->gap.count;
                else if (data->item == CTF_ITEM_DISCARDED_EVENTS)
                        ret_lost[1] += data->gap.count;
        }
}

START_TEST(test_losses)
{
        const StreamKey key = {.class_id = 0};
        FeedStream *stream;
        LoneFeed lone;
        unsigned i;

        lone_feed_init(&lone, (const uint8_t *)METADATA, strlen(METADATA));
        ck_assert_ptr_nonnull(lone.metadata);
        stream = stream_table_get(&lone.table, &key);
        ck_assert(trace_metadata_identify(lone.metadata, stream));
        for (i = 0; i < ROWS[_i].n_steps; i++) {
                const Step *step = &ROWS[_i].steps[i];
                const Bytes bytes = {
                        .magic = 0xC1FC1FC1,
                        .begin = 100 * step->number,
                        .end = 100 * step->number + 99,
                        .content_bits = 8 * sizeof(bytes),
                        .packet_bits = 8 * sizeof(bytes),
                        .sequence = step->number,
                        .discarded = step->discarded,
                };
                const FeedPacket packet = {lone.metadata, (const uint8_t *)&bytes, sizeof(bytes),
                                           bytes.begin, bytes.end};
                uint64_t lost[2] = {0};

                if (step->action == PASS)
                        packet_feed_pass(&lone.feed, stream, &packet);
                else
                        feed_packet(&lone.feed, stream, &packet, lost);
                ck_assert_msg(lost[0] == step->n_packets && lost[1] == step->n_events,
                              "%s, step %u: %u packets and %u events are lost", ROWS[_i].what, i,
                              (unsigned)lost[0], (unsigned)lost[1]);
        }
        lone_feed_deinit(&lone);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("packet-feed");
        TCase *tcase = tcase_create("packet-feed");

        tcase_add_loop_test(tcase, test_losses, 0, G_N_ELEMENTS(ROWS));
        suite_add_tcase(suite, tcase);
        return suite;
}
