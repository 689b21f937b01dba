/* SPDX-License-Identifier: MIT */

/*
 * A session beside its listing, in any order of their bytes; memory is proportional to these bytes
 *
 * The input is a script: a byte with the step, and for bytes of a stream two bytes of length and
 * the bytes. There is no daemon.
 */

#include "attach/eventpipe-feed.h"
#include "memory.h"

/* Bytes of memory for a byte of the input: the smallest event takes 4 bytes of a stream, and 56 in
 * a table that doubles, and again in a table for sorting. */
#define MOST_PER_BYTE 128
/* Bytes of memory without events: batches that the daemon has not taken. */
#define MOST_FIXED (12u << 20)

typedef enum Step {
        STEP_SESSION, /* bytes of the session */
        STEP_BEGIN,   /* a listing begins */
        STEP_LISTING, /* bytes of the listing */
        STEP_END,     /* the listing ends, complete */
        STEP_BREAK,   /* the listing ends, incomplete */
        STEP_RUN,
        _STEP_MAX,
} Step;

/* The events are in the order of time, except events that the daemon would drop. */
static void take(void *data, const Record *record)
{
        uint64_t *n_taken = data;

        FUZZ_REQUIRE(record->event != NULL);
        (*n_taken)++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        const FeedTarget target = {.process = {.pid = 4711}, .uid = 1000, .start_ticks = 1};
        const BacklogLimits limits = {.memory = 1u << 20, .file = 0};
        const size_t before = fuzz_allocated();
        EventPipeFeed *feed = eventpipe_feed_new("/nonexistent/ingest", &target, &limits, 1000);
        FuzzInput input = {data, size};
        bool is_listing = false;
        uint64_t n_taken = 0;

        eventpipe_feed_watch(feed, take, &n_taken);
        while (input.n > 0) {
                const Step step = (Step)(fuzz_take(&input, 1) % _STEP_MAX);
                FuzzInput part = {NULL, 0};

                if (step == STEP_SESSION || step == STEP_LISTING)
                        part = fuzz_take_part(&input, fuzz_take(&input, 2));
                switch (step) {
                case STEP_SESSION:
                        eventpipe_feed_push(feed, part.at, part.n);
                        break;
                case STEP_BEGIN:
                        eventpipe_feed_begin_listing(feed);
                        is_listing = true;
                        break;
                case STEP_LISTING:
                        if (is_listing)
                                eventpipe_feed_push_listing(feed, part.at, part.n);
                        break;
                case STEP_END:
                case STEP_BREAK:
                        if (is_listing)
                                eventpipe_feed_end_listing(feed, step == STEP_END);
                        is_listing = false;
                        break;
                case STEP_RUN:
                        eventpipe_feed_run(feed);
                        break;
                case _STEP_MAX:
                        break;
                }
                FUZZ_REQUIRE(fuzz_allocated() < before + MOST_FIXED + MOST_PER_BYTE * size);
        }
        eventpipe_feed_finish(feed, 0);
        eventpipe_feed_free(feed);
        return 0;
}
