/* SPDX-License-Identifier: MIT */
#include "event/async-events.h"

#include <glib.h>
#include <string.h>

#define BUFFER_VERSION 1

/* The kinds of lengths, in the numbers of the metadata. */
enum { LENGTH_NONE, LENGTH_U8, LENGTH_U16, LENGTH_UNKNOWN = UINT8_MAX };

static const struct {
        const char *name;
        uint8_t length;
} ROWS[] = {
        [1] = {"CreateRuntimeAsyncContext", LENGTH_U8},
        [2] = {"ResumeRuntimeAsyncContext", LENGTH_U8},
        [3] = {"SuspendRuntimeAsyncContext", LENGTH_NONE},
        [4] = {"CompleteRuntimeAsyncContext", LENGTH_NONE},
        [5] = {"UnwindRuntimeAsyncException", LENGTH_U8},
        [6] = {"CreateRuntimeAsyncCallstack", LENGTH_U16},
        [7] = {"ResumeRuntimeAsyncCallstack", LENGTH_U16},
        [8] = {"SuspendRuntimeAsyncCallstack", LENGTH_U16},
        [9] = {"ResumeRuntimeAsyncMethod", LENGTH_NONE},
        [10] = {"CompleteRuntimeAsyncMethod", LENGTH_NONE},
        [11] = {"CreateStateMachineAsyncContext", LENGTH_U8},
        [12] = {"ResumeStateMachineAsyncContext", LENGTH_U8},
        [13] = {"SuspendStateMachineAsyncContext", LENGTH_NONE},
        [14] = {"CompleteStateMachineAsyncContext", LENGTH_NONE},
        [15] = {"UnwindStateMachineAsyncException", LENGTH_U8},
        [16] = {"ResumeStateMachineAsyncCallstack", LENGTH_U16},
        [17] = {"ResumeStateMachineAsyncMethod", LENGTH_NONE},
        [18] = {"CompleteStateMachineAsyncMethod", LENGTH_NONE},
        [19] = {"AppendStateMachineAsyncCallstack", LENGTH_U16},
        [20] = {"ResetAsyncThreadContext", LENGTH_NONE},
        [21] = {"ResetAsyncContinuationWrapperIndex", LENGTH_NONE},
        [22] = {"AsyncProfilerMetadata", LENGTH_U16},
        [23] = {"AsyncProfilerSyncClock", LENGTH_U8},
};

const char *async_event_name(unsigned id)
{
        return id < G_N_ELEMENTS(ROWS) ? ROWS[id].name : NULL;
}

void async_lengths_init(AsyncLengths *lengths)
{
        size_t i;

        memset(lengths->kinds, LENGTH_UNKNOWN, sizeof(lengths->kinds));
        for (i = 1; i < G_N_ELEMENTS(ROWS); i++)
                lengths->kinds[i] = ROWS[i].length;
}

static int64_t cursor_signed(ByteCursor *cursor)
{
        const uint64_t value = byte_cursor_varint(cursor);

        return (int64_t)(value >> 1 ^ -(value & 1));
}

bool async_buffer_read(AsyncBuffer *ret, const uint8_t *bytes, size_t n)
{
        ByteCursor cursor = {.at = bytes, .n = n};
        const uint8_t version = byte_cursor_u8(&cursor);
        const uint32_t size = byte_cursor_u32(&cursor);
        AsyncBuffer buffer = {0};

        byte_cursor_u32(&cursor); /* context */
        buffer.tid = byte_cursor_u64(&cursor);
        buffer.n_left = byte_cursor_u32(&cursor);
        buffer.first = buffer.time = byte_cursor_u64(&cursor);
        buffer.last = byte_cursor_u64(&cursor);
        buffer.cursor = cursor;
        if (cursor.has_failed || version != BUFFER_VERSION || size != n)
                return false;
        *ret = buffer;
        return true;
}

/*
 * Takes the lengths of all sub-events, even of ids without a meaning here, from a metadata
 * sub-event.
 */
static void async_lengths_take(AsyncLengths *lengths, const AsyncEvent *event)
{
        ByteCursor cursor = {.at = event->payload, .n = event->n};
        AsyncLengths taken = *lengths;
        unsigned n, i;

        byte_cursor_varint(&cursor); /* frequency, ns */
        byte_cursor_varint(&cursor); /* the time by the clock of events, and of day */
        byte_cursor_varint(&cursor);
        byte_cursor_varint(&cursor); /* bytes of a buffer */
        byte_cursor_u8(&cursor);
        n = byte_cursor_u8(&cursor);
        for (i = 0; i < n; i++) {
                const uint8_t id = byte_cursor_u8(&cursor);

                byte_cursor_u8(&cursor); /* version */
                taken.kinds[id] = byte_cursor_u8(&cursor);
        }
        if (!cursor.has_failed)
                *lengths = taken;
}

bool async_buffer_next(AsyncBuffer *buffer, AsyncLengths *lengths, AsyncEvent *ret)
{
        ByteCursor *cursor = &buffer->cursor;
        AsyncEvent event;

        if (!buffer->n_left || cursor->has_failed)
                return false;
        buffer->n_left--;
        event.id = byte_cursor_u8(cursor);
        buffer->time += byte_cursor_varint(cursor);
        event.time = buffer->time;
        switch (lengths->kinds[event.id]) {
        case LENGTH_NONE:
                event.n = 0;
                break;
        case LENGTH_U8:
                event.n = byte_cursor_u8(cursor);
                break;
        case LENGTH_U16:
                event.n = byte_cursor_u16(cursor);
                break;
        default:
                cursor->has_failed = true;
        }
        event.payload = byte_cursor_take(cursor, cursor->has_failed ? 0 : event.n);
        if (cursor->has_failed)
                return false;
        if (event.id == ASYNC_METADATA)
                async_lengths_take(lengths, &event);
        *ret = event;
        return true;
}

bool async_event_stack(const AsyncEvent *event, AsyncStack *ret)
{
        const bool has_states =
                event->id == ASYNC_MACHINE_RESUME_STACK || event->id == ASYNC_MACHINE_APPEND_STACK;
        ByteCursor cursor = {.at = event->payload, .n = event->n};
        uint64_t address = 0;
        unsigned i;

        if (!has_states && event->id != ASYNC_CREATE_STACK && event->id != ASYNC_RESUME_STACK &&
            event->id != ASYNC_SUSPEND_STACK)
                return false;
        byte_cursor_u8(&cursor);
        ret->index = byte_cursor_u8(&cursor);
        ret->n = byte_cursor_u8(&cursor);
        ret->parent = event->id == ASYNC_CREATE_STACK ? byte_cursor_varint(&cursor) : 0;
        ret->id = byte_cursor_varint(&cursor);
        for (i = 0; i < ret->n && !cursor.has_failed; i++) {
                address = i ? address + (uint64_t)cursor_signed(&cursor)
                            : byte_cursor_varint(&cursor);
                ret->addresses[i] = address;
                ret->states[i] = has_states ? cursor_signed(&cursor) : 0;
        }
        return !cursor.has_failed;
}
