/* SPDX-License-Identifier: MIT */
#include "known.h"

#include "fuzz.h"
#include "query/query.h"
#include "tracker/checkpoint.h"

#include <string.h>

enum { MAX_PARTS = 10000 };

static const char *const CALLS[] = {
        "{\"method\":\"org.clrsym.Symbolizer.ListProcesses\"}",
        "{\"method\":\"org.clrsym.Symbolizer.ListMethods\",\"parameters\":{\"all\":true}}",
        "{\"method\":\"org.clrsym.Symbolizer.Status\"}",
        "{\"method\":\"org.clrsym.Symbolizer.Resolve\",\"parameters\":{\"queries\":["
        "{\"pid\":100,\"addr\":\"0x1000\"},{\"pid\":100,\"addr\":\"0x1008\",\"time\":20},"
        "{\"pid\":101,\"addr\":\"0x7f0000000010\"},{\"pid\":-1,\"addr\":\"0x0\"}]}}",
};

static bool append_piece(void *data, const uint8_t *bytes, size_t n)
{
        g_byte_array_append(data, bytes, (guint)n);
        return true;
}

static void check_queries(const Tracker *tracker)
{
        const QueryContext context = {
                .tracker = tracker, .is_final = true, .viewer = {.sees_all = true}};
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(CALLS); i++) {
                g_autoptr(GString) text = g_string_new(NULL);
                QueryProgress progress = {0};
                unsigned n = 0;

                while (query_call(&context, CALLS[i], strlen(CALLS[i]), &progress, text) ==
                       QUERY_MORE) {
                        FUZZ_REQUIRE(++n < MAX_PARTS);
                        g_string_truncate(text, 0);
                }
                FUZZ_REQUIRE(g_utf8_validate(text->str, (gssize)MAX(text->len, 1) - 1, NULL));
        }
}

static void check_checkpoint(const Tracker *tracker)
{
        g_autoptr(GByteArray) first = g_byte_array_new(), second = g_byte_array_new();
        Tracker *again = tracker_new();
        CheckpointReader *reader = checkpoint_reader_new(again);

        FUZZ_REQUIRE(checkpoint_write(tracker, append_piece, first));
        FUZZ_REQUIRE(checkpoint_reader_take(reader, first->data, first->len));
        FUZZ_REQUIRE(checkpoint_reader_finish(reader));
        FUZZ_REQUIRE(checkpoint_write(again, append_piece, second));
        FUZZ_REQUIRE(first->len == second->len && !memcmp(first->data, second->data, first->len));
        tracker_free(again);
}

void known_check(const Tracker *tracker)
{
        check_queries(tracker);
        check_checkpoint(tracker);
}
