/* SPDX-License-Identifier: MIT */
#pragma once

/* Header: a stream's process, clock and begin */

#include "event/stream.h"
#include "nettrace/framing.h"

typedef struct NettraceHeader {
        unsigned version;     /* of the format: 4, 5 or 6 */
        uint64_t begin;       /* of the session, ns of the clock of its events */
        uint64_t frequency;   /* ticks a second of that clock: the runtime's is 1000000000 */
        int64_t clock_offset; /* realtime less that clock, ns; good to a millisecond */
        uint32_t pointer_size;
        uint64_t sample_ns; /* ns between two samples of a CPU; 0: not known */
        int32_t pid;        /* in the pid namespace of the process; 0: of several processes */
        uint8_t digest[16]; /* of the whole header, which differs between two sessions */
} NettraceHeader;

/* Reads a block of kind TRACE. False: it is damaged. */
bool nettrace_header_read(const NettraceBlock *block, unsigned version, NettraceHeader *ret_header);

/* ns of the clock for a time in ticks. */
static inline uint64_t nettrace_header_ns(const NettraceHeader *header, uint64_t ticks)
{
        if (header->frequency == 1000000000)
                return ticks;
        return (uint64_t)((unsigned __int128)ticks * 1000000000 / header->frequency);
}

/* The identity of the tracker's one stream for it. Owned by the caller. */
StreamIdentity *nettrace_header_identity(const NettraceHeader *header);
