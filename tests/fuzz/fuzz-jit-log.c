/* SPDX-License-Identifier: MIT */

/*
 * The log of compilations by any threads, read back; memory and the file are proportional to the
 * input
 *
 * The input is a script, 8 bytes for each record: kind, thread, method and time.
 */

#include "attach/jit-log.h"
#include "memory.h"
#include "support/log-place.h"
#include "record/jit-intervals.h"

#define PID 77
/* Bytes of memory for a byte of the input: a record of 8 bytes can have a new thread. */
#define MOST_PER_BYTE 160
/* Bytes of the file's buffer, and of a thousand compiling threads. */
#define MOST_FIXED (2u << 20)

static LogPlace place;

static void clean_up(void)
{
        log_place_remove(&place);
}

static void set_up(void)
{
        place = log_place_new(JIT_LOG_DIRECTORY);
        g_mkdir(place.logs, 0700);
        atexit(clean_up);
}

static void take_one(JitLog *log, FuzzInput *input)
{
        static const char *const EVENTS[] = {"DotNETRuntime:MethodJittingStarted_V1",
                                             "DotNETRuntime:MethodLoadVerbose_V2",
                                             "DotNETRuntime:MethodUnloadVerbose_V2"};
        Record record = {.event =
                                 event_by_name(EVENTS[fuzz_take(input, 1) % G_N_ELEMENTS(EVENTS)])};

        record.tid = (int32_t)fuzz_take(input, 3);
        log_set_value(&record, FIELD_MethodID, fuzz_take(input, 1));
        record.time = fuzz_take(input, 3);
        log_set_value(&record, FIELD_MethodStartAddress, record.time << 4);
        jit_log_take(log, &record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        FuzzInput input = {data, size};
        JitIntervals *intervals;
        size_t before;
        GStatBuf st;
        JitLog *log;
        unsigned i;

        if (!place.directory)
                set_up();
        before = fuzz_allocated();
        log = jit_log_open(place.path, place.threads);
        FUZZ_REQUIRE(log != NULL);
        while (input.n > 0) {
                take_one(log, &input);
                FUZZ_REQUIRE(fuzz_allocated() < before + MOST_FIXED + MOST_PER_BYTE * size);
        }
        jit_log_close(log);
        FUZZ_REQUIRE(g_stat(place.log_path, &st) == 0 &&
                     (uint64_t)st.st_size <= JIT_LOG_MAX_BYTES &&
                     (uint64_t)st.st_size <= 4 * (uint64_t)size);
        intervals = jit_intervals_new(place.logs);
        for (i = 0; i < 64; i++) {
                const JitLogEntry *entry = jit_intervals_find(intervals, PID, (int32_t)i, 1000 * i);

                FUZZ_REQUIRE(!entry || (entry->begin <= 1000 * i && 1000 * i < entry->end &&
                                        entry->tid == (int32_t)i));
        }
        jit_intervals_free(intervals);
        g_unlink(place.log_path);
        return 0;
}
