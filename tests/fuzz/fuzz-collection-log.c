/* SPDX-License-Identifier: MIT */

/*
 * The log of garbage collections from any stream of events, read back while it is written; memory
 * and the file are proportional to the input
 */

#include "attach/collection-log.h"
#include "memory.h"
#include "support/log-place.h"
#include "record/collections.h"

#define PID 77
/* Bytes of memory for a byte of the input. */
#define MOST_PER_BYTE 64
/* Bytes of the reader's buffers and tables, and of the file's buffer. */
#define MOST_FIXED (4u << 20)

static LogPlace place;

static void clean_up(void)
{
        log_place_remove(&place);
}

static void set_up(void)
{
        place = log_place_new(COLLECTION_LOG_DIRECTORY);
        g_mkdir(place.logs, 0700);
        atexit(clean_up);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        const EventPipeSink *sink;
        Collections *collections;
        CollectionTotals totals;
        CollectionLog *log;
        size_t before, at;
        GStatBuf st;

        if (!place.directory)
                set_up();
        before = fuzz_allocated();
        log = collection_log_open(place.path, place.threads, 0);
        FUZZ_REQUIRE(log != NULL);
        sink = collection_log_sink(log);
        collections = collections_new(place.logs);
        for (at = 0; at < size; at += 1000) {
                sink->take(sink->data, data + at, MIN(size - at, 1000));
                collections_update(collections);
                collections_forget(collections, at, 2 * at);
                FUZZ_REQUIRE(fuzz_allocated() < before + MOST_FIXED + MOST_PER_BYTE * size);
        }
        collection_log_close(log, false);
        FUZZ_REQUIRE(g_stat(place.log_path, &st) == 0 &&
                     (uint64_t)st.st_size <= COLLECTION_LOG_MAX_BYTES);
        collections_update(collections);
        collections_sum(collections, &totals);
        FUZZ_REQUIRE(totals.longest <= totals.paused && totals.n_processes <= 1);
        FUZZ_REQUIRE(!collections_find(collections, PID + 1, 0, 1000));
        collections_free(collections);
        g_unlink(place.log_path);
        return 0;
}
