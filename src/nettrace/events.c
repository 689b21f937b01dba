/* SPDX-License-Identifier: MIT */
#include "nettrace/events.h"

enum {
        SIZE_HEADER = 20, /* of a block: the minimum; its first field is its size */
        SIZE_GUID = 16,
        FLAG_COMPRESSED = 1, /* of a block */
        VERSION_OF_LABELS = 6,
        ALIGNMENT = 4,
};

/* The fields of a compressed header. */
enum {
        HAS_METADATA_ID = 0x01,
        HAS_SEQUENCE = 0x02, /* and capture thread, and processor */
        HAS_THREAD = 0x04,
        HAS_STACK = 0x08,
        HAS_ACTIVITY = 0x10, /* version 6: the list of labels */
        HAS_RELATED_ACTIVITY = 0x20,
        IS_SORTED = 0x40,
        HAS_PAYLOAD_SIZE = 0x80,
};

#define SORTED_METADATA_ID 0x80000000u

bool nettrace_events_init(NettraceEvents *events, const NettraceBlock *block, unsigned version)
{
        NettraceCursor cursor = nettrace_cursor(block->bytes, block->n_bytes);
        uint16_t n_header = nettrace_u16(&cursor);
        uint16_t flags = nettrace_u16(&cursor);

        if (n_header < SIZE_HEADER || n_header > block->n_bytes)
                return false;
        *events = (NettraceEvents){
                .cursor = nettrace_cursor(block->bytes + n_header, block->n_bytes - n_header),
                .offset = block->offset,
                .begin = block->bytes,
                .version = version,
                .is_compressed = flags & FLAG_COMPRESSED,
        };
        return true;
}

static void events_take_compressed(NettraceEvents *events)
{
        NettraceCursor *cursor = &events->cursor;
        NettraceEvent *event = &events->event;
        uint8_t flags = *cursor->at++;

        if (flags & HAS_METADATA_ID)
                event->metadata_id = nettrace_varint32(cursor);
        if (flags & HAS_SEQUENCE) {
                event->sequence += nettrace_varint32(cursor);
                event->capture_thread = nettrace_varint(cursor);
                event->processor = nettrace_varint32(cursor);
        }
        event->sequence += event->metadata_id != 0;
        if (flags & HAS_THREAD)
                event->thread = nettrace_varint(cursor);
        if (flags & HAS_STACK)
                event->stack_id = nettrace_varint32(cursor);
        event->ticks += nettrace_varint(cursor);
        if (events->version >= VERSION_OF_LABELS) {
                if (flags & HAS_ACTIVITY)
                        nettrace_varint32(cursor);
        } else {
                if (flags & HAS_ACTIVITY)
                        nettrace_bytes(cursor, SIZE_GUID);
                if (flags & HAS_RELATED_ACTIVITY)
                        nettrace_bytes(cursor, SIZE_GUID);
        }
        event->is_sorted = flags & IS_SORTED;
        if (flags & HAS_PAYLOAD_SIZE)
                event->n_payload = nettrace_varint32(cursor);
        event->payload = nettrace_bytes(cursor, event->n_payload);
}

static void events_take_whole(NettraceEvents *events)
{
        NettraceCursor *cursor = &events->cursor;
        NettraceEvent *event = &events->event;

        nettrace_u32(cursor); /* the size of the rest, which is known */
        event->metadata_id = nettrace_u32(cursor);
        event->is_sorted = event->metadata_id & SORTED_METADATA_ID;
        event->metadata_id &= ~SORTED_METADATA_ID;
        event->sequence = nettrace_u32(cursor);
        event->thread = nettrace_u64(cursor);
        event->capture_thread = nettrace_u64(cursor);
        event->processor = nettrace_u32(cursor);
        event->stack_id = nettrace_u32(cursor);
        event->ticks = nettrace_u64(cursor);
        if (events->version >= VERSION_OF_LABELS)
                nettrace_u32(cursor);
        else
                nettrace_bytes(cursor, 2 * SIZE_GUID);
        event->n_payload = nettrace_u32(cursor);
        event->payload = nettrace_bytes(cursor, event->n_payload);
        if (events->version < VERSION_OF_LABELS && !cursor->is_short)
                /*
                 * Blocks begin at a multiple of 4 in the stream. The last block may be truncated.
                 */
                cursor->at += MIN(nettrace_left(cursor),
                                  (size_t)(-(uint64_t)(cursor->at - events->begin) % ALIGNMENT));
}

NettraceEventsResult nettrace_events_next(NettraceEvents *events)
{
        if (events->cursor.at == events->cursor.end)
                return NETTRACE_EVENTS_END;
        if (events->is_compressed)
                events_take_compressed(events);
        else
                events_take_whole(events);
        return events->cursor.is_short ? NETTRACE_EVENTS_DAMAGED : NETTRACE_EVENTS_ONE;
}

uint64_t nettrace_events_offset(const NettraceEvents *events)
{
        return events->offset + (uint64_t)(events->cursor.at - events->begin);
}
