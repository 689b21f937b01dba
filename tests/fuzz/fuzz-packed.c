/* SPDX-License-Identifier: MIT */

/* A packed event of each row of the event table: u16 row, blob. */

#include "frames.h"
#include "values.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        FuzzInput input = {data, size};
        const Event *event = &event_table[fuzz_take(&input, 2) % n_event_table];
        g_autoptr(GByteArray) frame_bytes = g_byte_array_new();
        g_autofree uint8_t *blob = g_memdup2(input.at, input.n);
        DecodeScratch scratch = DECODE_SCRATCH_INIT;
        Record record = {0}, again;
        IngestFrame frame;
        uint32_t stream;
        unsigned i;

        if (size > FUZZ_MAX_INPUT)
                return 0;
        if (packed_decode(event, false, blob, input.n, &scratch, &record) == DECODE_OK) {
                fuzz_check_record(&record);
                /* A decoded record can be sent, and arrives unchanged. */
                FUZZ_REQUIRE(ingest_put_record(frame_bytes, 1, &record));
                FUZZ_REQUIRE(ingest_frame_next(frame_bytes->data, frame_bytes->len, &frame) > 0);
                FUZZ_REQUIRE(ingest_get_record(&frame, &stream, &again) == 0);
                for (i = 0; i < event->n_fields; i++)
                        FUZZ_REQUIRE(again.values[i].n == record.values[i].n);
        }
        decode_scratch_deinit(&scratch);
        return 0;
}
