/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Async events: the chains of awaiting methods that threads continue, as .NET 11 reports them
 *
 * The event AsyncEvents holds a buffer of one thread with sub-events. Layout source:
 * AsyncProfiler.cs of dotnet/runtime (version 1 of the buffer). All numbers are little-endian;
 * "var" is LEB128; "signed" is a var whose lowest bit is the sign (zigzag).
 *
 *   buffer:    u8 version, u32 size, u32 context, u64 thread, u32 number of sub-events,
 *              u64 first time, u64 last time, sub-events
 *   sub-event: u8 id, var time since the one before, length (none, u8 or u16, by id), payload
 *   stack:     u8 0, u8 index, u8 number of frames, [var parent,] var id, var first address, signed
 *              distances of the others; a stack of state machines has a signed state after each
 *
 * The first frame is the innermost one. Its method is continued first; the others await it.
 */

#include "metadata/byte-cursor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum AsyncEventId {
        ASYNC_CREATE_STACK = 6,
        ASYNC_RESUME_STACK = 7, /* of methods of runtime async: addresses are return addresses */
        ASYNC_SUSPEND_STACK = 8,
        ASYNC_SUSPEND = 3,
        ASYNC_COMPLETE = 4,
        ASYNC_COMPLETE_METHOD = 10,
        ASYNC_MACHINE_SUSPEND = 13,
        ASYNC_MACHINE_COMPLETE = 14,
        ASYNC_MACHINE_UNWIND = 15,       /* a method has failed */
        ASYNC_MACHINE_RESUME_STACK = 16, /* of state machines: addresses are those of MoveNext */
        ASYNC_MACHINE_COMPLETE_METHOD = 18,
        ASYNC_MACHINE_APPEND_STACK = 19, /* methods that have begun to await the last one */
        ASYNC_RESET_THREAD = 20,
        ASYNC_METADATA = 22,
} AsyncEventId;

/* The lengths of payloads: the kind of length of each sub-event. */
typedef struct AsyncLengths {
        uint8_t kinds[256];
} AsyncLengths;

/* The lengths of .NET 11.0; ASYNC_METADATA replaces them. */
void async_lengths_init(AsyncLengths *lengths);

/* Borrows the bytes. */
typedef struct AsyncBuffer {
        uint64_t tid;         /* of the operating system, in the target's pid namespace */
        uint64_t first, last; /* ns of CLOCK_MONOTONIC */
        /* The state of reading: */
        uint32_t n_left;
        uint64_t time;
        ByteCursor cursor;
} AsyncBuffer;

/* False: the buffer has another version, or its size field is wrong. */
bool async_buffer_read(AsyncBuffer *ret, const uint8_t *bytes, size_t n);

typedef struct AsyncEvent {
        unsigned id;   /* AsyncEventId, or one without a meaning here */
        uint64_t time; /* ns of CLOCK_MONOTONIC */
        const uint8_t *payload;
        size_t n; /* bytes of it */
} AsyncEvent;

/*
 * False: the buffer has no more sub-events, or it is damaged; then its cursor has failed. A
 * sub-event with lengths replaces LENGTHS.
 */
bool async_buffer_next(AsyncBuffer *buffer, AsyncLengths *lengths, AsyncEvent *ret);

#define ASYNC_MAX_FRAMES 255u

typedef struct AsyncStack {
        unsigned index;      /* of the wrapper that continues the first frame; see ASYNC_WRAPPERS */
        unsigned n;          /* frames */
        uint64_t parent, id; /* of contexts; PARENT is 0 unless the context was made */
        uint64_t addresses[ASYNC_MAX_FRAMES]; /* 0: not an async method */
        int64_t states[ASYNC_MAX_FRAMES];     /* of state machines; else 0 */
} AsyncStack;

/* Frame K of a stack of runtime async is called by wrapper (INDEX + K) % ASYNC_WRAPPERS. */
#define ASYNC_WRAPPERS 32u

/* False: EVENT has no stack, or its stack is damaged. */
bool async_event_stack(const AsyncEvent *event, AsyncStack *ret);

/* "ResumeRuntimeAsyncCallstack"; NULL: not known. Static. */
const char *async_event_name(unsigned id);
