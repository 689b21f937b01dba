/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Events: the headers and payloads in a block of events
 *
 * The blocks of metadata of versions 4 and 5 have the same layout. A header omits the values of the
 * previous event in its block (flag 1 of the block), or is complete.
 */

#include "nettrace/cursor.h"
#include "nettrace/framing.h"

#define NETTRACE_NO_PROCESSOR UINT32_MAX

typedef struct NettraceEvent {
        uint32_t metadata_id; /* 0 in a block of metadata */
        uint32_t sequence;    /* number of the event in its capture thread and session, from 1 */
        uint64_t capture_thread;
        uint64_t thread;    /* the event's subject; in version 6 both are indexes */
        uint32_t processor; /* NETTRACE_NO_PROCESSOR: not recorded */
        uint32_t stack_id;  /* 0: no stack */
        uint64_t ticks;
        bool is_sorted; /* no later event in the stream is older */
        const uint8_t *payload;
        uint32_t n_payload;
} NettraceEvent;

typedef struct NettraceEvents {
        NettraceCursor cursor;
        uint64_t offset; /* of the block in the stream */
        const uint8_t *begin;
        unsigned version;
        bool is_compressed;
        NettraceEvent event; /* the latest one */
} NettraceEvents;

/* Begins a block of kind EVENT or METADATA. False: its header is damaged. */
bool nettrace_events_init(NettraceEvents *events, const NettraceBlock *block, unsigned version);

typedef enum NettraceEventsResult {
        NETTRACE_EVENTS_ONE, /* events->event is the next one */
        NETTRACE_EVENTS_END,
        NETTRACE_EVENTS_DAMAGED,
} NettraceEventsResult;

NettraceEventsResult nettrace_events_next(NettraceEvents *events);

/* Its offset in the stream. */
uint64_t nettrace_events_offset(const NettraceEvents *events);
