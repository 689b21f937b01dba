/* SPDX-License-Identifier: MIT */

/*
 * The log of async events with any bytes, read back; memory and the file are proportional to the
 * input
 *
 * The input has, for each entry, a kind, two bytes of length, and the buffer.
 */

#include "attach/async-log.h"
#include "event/async-events.h"
#include "event/json-record.h"
#include "memory.h"
#include "record/async-chains.h"
#include "support/log-place.h"

#include <glib/gstdio.h>

#define PID 77
/* Bytes of memory for a byte of the input: each buffer can have a thread of its own. */
#define MOST_PER_BYTE 128
#define MOST_FIXED    (4u << 20)

static LogPlace place;

static void clean_up(void)
{
        log_place_remove(&place);
}

static void set_up(void)
{
        place = log_place_new(ASYNC_LOG_DIRECTORY);
        g_mkdir(place.logs, 0700);
        atexit(clean_up);
}

static void take_buffer(AsyncLog *log, unsigned kind, const uint8_t *bytes, size_t n)
{
        Record record = {.event = event_by_name("AsyncProfiler:AsyncEvents")};
        g_autoptr(GString) json = g_string_new(NULL);

        kind %= ASYNC_LOG_CLOSED + 1;
        if (kind == ASYNC_LOG_FLUSHED)
                async_log_add_flushed(log, n);
        else
                async_log_add(log, kind, bytes, n);
        record.values[0].u = n;
        record.values[1] = (Value){.data = bytes, .n = (uint32_t)n};
        json_append_record(json, &record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        const size_t before = fuzz_allocated();
        const size_t whole = size;
        AsyncChains *chains;
        AsyncPlace found;
        AsyncLog *log;
        unsigned tid;

        if (!place.directory)
                set_up();
        log = async_log_open(place.path, place.threads, 0);
        FUZZ_REQUIRE(log != NULL);
        while (size >= 3) {
                const size_t n = MIN(size - 3, (size_t)(data[1] | data[2] << 8));

                take_buffer(log, data[0], data + 3, n);
                data += 3 + n;
                size -= 3 + n;
        }
        async_log_close(log);
        chains = async_chains_new(place.logs);
        async_chains_update(chains);
        FUZZ_REQUIRE(fuzz_allocated() < before + MOST_FIXED + MOST_PER_BYTE * whole);
        for (tid = 0; tid < 4; tid++)
                if (async_chains_find(chains, PID, (int32_t)tid, 1000, &found)) {
                        const AsyncChain *chain = async_chains_get(chains, found.chain);

                        FUZZ_REQUIRE(chain->pid == PID && chain->n <= ASYNC_CHAINS_MAX_FRAMES);
                        if (chain->n)
                                FUZZ_REQUIRE(async_chain_addresses(chains, chain)[0] != 1);
                }
        async_chains_forget(chains, 1000);
        async_chains_forget(chains, UINT64_MAX);
        async_chains_free(chains);
        log_place_clear(&place);
        return 0;
}
