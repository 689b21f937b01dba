/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Framing: splits a stream of bytes into its blocks
 *
 * Version 4 and 5, as .NET writes them, have 32 bytes of head, then objects with the names of their
 * types. Blocks are objects with a size, padded so that the content begins at a multiple of 4 of
 * the stream. Version 6 has 20 bytes of head, then blocks with 3 bytes of size and one of kind. The
 * layouts are those of NetTraceFormat_v5.md and NetTraceFormat.md in microsoft/perfview.
 *
 * If a session is opened while its runtime starts, .NET 10.0.12 can write the head and the object
 * Trace twice. The stream then begins at the second head.
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* Larger blocks are refused: version 6 has none, and .NET's are a hundred times smaller. */
#define NETTRACE_MAX_BLOCK (16u << 20)

/* The numbers are those of version 6. */
typedef enum NettraceBlockKind {
        NETTRACE_BLOCK_END = 0,
        NETTRACE_BLOCK_TRACE = 1,
        NETTRACE_BLOCK_EVENT = 2,
        NETTRACE_BLOCK_METADATA = 3,
        NETTRACE_BLOCK_SEQUENCE_POINT = 4,
        NETTRACE_BLOCK_STACK = 5,
        NETTRACE_BLOCK_THREAD = 6,
        NETTRACE_BLOCK_REMOVE_THREAD = 7,
        NETTRACE_BLOCK_LABEL_LIST = 8,
        NETTRACE_BLOCK_OTHER = 256, /* an unknown kind */
} NettraceBlockKind;

typedef struct NettraceBlock {
        NettraceBlockKind kind;
        const uint8_t *bytes; /* borrowed: its content, until the next call */
        size_t n_bytes;
        uint64_t offset; /* of its content in the stream */
} NettraceBlock;

typedef enum NettraceFrame {
        NETTRACE_FRAME_BLOCK,
        NETTRACE_FRAME_MORE, /* push bytes */
        NETTRACE_FRAME_END,  /* the end mark of the stream has come */
        NETTRACE_FRAME_ERROR,
} NettraceFrame;

typedef struct NettraceFraming {
        GByteArray *input; /* owned */
        size_t n_used;     /* bytes at its begin that have been handled */
        uint64_t position; /* in the stream, of the first byte of `input` */
        uint64_t begin;    /* in the stream, of its head: padding counts from there */
        unsigned version;  /* 4, 5 or 6; 0: not known yet */
        bool has_head;     /* the head has been read, and the object Trace comes next */
        bool has_blocks;   /* a block has come after the object Trace */
        bool has_ended;
} NettraceFraming;

void nettrace_framing_init(NettraceFraming *framing);
void nettrace_framing_deinit(NettraceFraming *framing);

/* Takes N more bytes. Bytes after the stream's end are ignored. */
void nettrace_framing_push(NettraceFraming *framing, const uint8_t *bytes, size_t n);
/* The next block. ERROR is set with NETTRACE_FRAME_ERROR only; all later calls fail, too. */
NettraceFrame nettrace_framing_next(NettraceFraming *framing, NettraceBlock *ret_block,
                                    GError **error);
