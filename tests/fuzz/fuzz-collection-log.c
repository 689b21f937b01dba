/* SPDX-License-Identifier: MIT */

/*
 * The log of garbage collections of any stream of events, read back; memory and the file follow the
 * input
 */

#include "attach/collection-log.h"
#include "memory.h"
#include "record/collections.h"

#include <glib/gstdio.h>

#define PID 77
/* Bytes of memory for a byte of the input. */
#define MOST_PER_BYTE 64
/* The reader's buffers and tables, and that of the file. */
#define MOST_FIXED (4u << 20)

static char *directory, *path, *log_path;

static void clean_up(void)
{
        g_autofree char *logs = g_path_get_dirname(log_path);

        g_unlink(log_path);
        g_rmdir(logs);
        g_rmdir(directory);
}

static void set_up(void)
{
        g_autofree char *logs = NULL;

        directory = g_dir_make_tmp("clrsym-fuzz-XXXXXX", NULL);
        logs = g_build_filename(directory, COLLECTION_LOG_DIRECTORY, NULL);
        path = g_build_filename(directory, "77-1", NULL);
        log_path = g_build_filename(logs, "77-1", NULL);
        g_mkdir(logs, 0700);
        atexit(clean_up);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        const EventPipeSink *sink;
        g_autofree char *logs = NULL;
        Collections *collections;
        CollectionTotals totals;
        CollectionLog *log;
        size_t before, at;
        GStatBuf st;

        if (!directory)
                set_up();
        before = fuzz_allocated();
        log = collection_log_open(path, PID, 0);
        FUZZ_REQUIRE(log != NULL);
        sink = collection_log_sink(log);
        for (at = 0; at < size; at += 1000) {
                sink->take(sink->data, data + at, MIN(size - at, 1000));
                FUZZ_REQUIRE(fuzz_allocated() < before + MOST_FIXED + MOST_PER_BYTE * size);
        }
        collection_log_close(log);
        FUZZ_REQUIRE(g_stat(log_path, &st) == 0 &&
                     (uint64_t)st.st_size <= COLLECTION_LOG_MAX_BYTES);
        logs = g_path_get_dirname(log_path);
        collections = collections_new(logs);
        collections_sum(collections, &totals);
        FUZZ_REQUIRE(totals.longest <= totals.paused && totals.n_processes <= 1);
        FUZZ_REQUIRE(!collections_find(collections, PID + 1, 0, 1000));
        collections_free(collections);
        g_unlink(log_path);
        return 0;
}
