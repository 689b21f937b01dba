/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Nettrace streams for tests, built byte by byte after NetTraceFormat_v5.md and NetTraceFormat.md
 * of microsoft/perfview
 *
 * The events are R2RGetEntryPointStart (160/0) with 10 bytes; the MethodID identifies the event.
 * VERSION is 4 or 6.
 */

#include "nettrace/framing.h"

enum {
        NETTRACE_TEST_PID = 4711,
        NETTRACE_TEST_BEGIN = 1000, /* begin of the session, ns */
        NETTRACE_TEST_PAYLOAD = 10,
        NETTRACE_TEST_FLAGS =
                0x87, /* flags of a compressed header: everything but the stack; unsorted */
};

/* An event in a block of its own. */
typedef struct NettraceTestEvent {
        uint32_t id;
        uint32_t sequence;
        uint64_t thread;
        uint64_t time;
        bool is_sorted;
} NettraceTestEvent;

typedef struct NettraceTestPoint {
        uint64_t thread;
        uint32_t sequence;
} NettraceTestPoint;

/* Appends N bytes of a number, little-endian. */
void nettrace_put(GByteArray *out, uint64_t value, unsigned n);
void nettrace_put_bytes(GByteArray *out, const void *bytes, size_t n);
void nettrace_put_varint(GByteArray *out, uint64_t value);
void nettrace_put_text(GByteArray *out, const char *text);
/* Takes over CONTENT. */
void nettrace_put_block(GByteArray *out, unsigned version, NettraceBlockKind kind,
                        GByteArray *content);
/* Writes both headers. The caller owns the stream. */
GByteArray *nettrace_stream_new(unsigned version);
void nettrace_stream_end(GByteArray *out, unsigned version);
/* Begins a block of events. */
GByteArray *nettrace_block_new(bool is_compressed);
/*
 * Id 1 is 160/0 of the runtime, id 2 an event of another provider, id 3 a sample of the runtime's
 * sampler.
 */
void nettrace_put_metadata(GByteArray *out, unsigned version);
/* Appends an event; steps are differences to the previous event. */
void nettrace_put_event(GByteArray *block, uint32_t id, uint32_t sequence_step, uint64_t thread,
                        uint64_t time_step, bool is_sorted, uint64_t value);
void nettrace_put_one(GByteArray *out, unsigned version, const NettraceTestEvent *one);
void nettrace_put_point(GByteArray *out, unsigned version, uint64_t time, uint32_t flags,
                        const NettraceTestPoint *entries, unsigned n);
/* Describes threads of process NETTRACE_TEST_PID, thread ids 5000 + index. */
void nettrace_put_threads(GByteArray *out, unsigned version, const uint64_t *indexes, unsigned n);
/* nettrace_stream_new() with metadata, and the threads 7, 8 and 9. */
GByteArray *nettrace_stream_begin(unsigned version);
