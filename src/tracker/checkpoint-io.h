/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Checkpoint items: one function both writes and reads an item, so that the two cannot differ
 *
 * An item is a tag and its fields. A field function copies from the value when the checkpoint is
 * written, and into it when it is read. An unreadable field marks the checkpoint as bad and reads
 * as zeros. Each width has its own function, so that a field whose type changes does not compile.
 */

#include "codemap/strtab.h"

/* The bytes contain these numbers: never change them. */
typedef enum CheckpointTag {
        CHECKPOINT_NAME = 1, /* numbered from 1 on, in order of appearance */
        CHECKPOINT_TRACE,
        CHECKPOINT_STREAM, /* of the latest trace */
        CHECKPOINT_GAP,    /* of the latest trace */
        CHECKPOINT_PROCESS,
        CHECKPOINT_MODULE, /* of the latest process, like all up to CHECKPOINT_CODE_MAP */
        CHECKPOINT_RUNDOWN,
        CHECKPOINT_PROCESS_TRACE,
        CHECKPOINT_JITTING,
        CHECKPOINT_KEPT_MAP,
        CHECKPOINT_STUB,
        CHECKPOINT_JIT_STATS,
        CHECKPOINT_JIT_REASON,
        CHECKPOINT_CHUNK,
        CHECKPOINT_BODY,
        CHECKPOINT_CODE_MAP,
        CHECKPOINT_DROPPED,
        CHECKPOINT_TRACKER,      /* the last item */
        CHECKPOINT_PROCESS_GAPS, /* of the latest process, like the next three */
        CHECKPOINT_INFERRED_GAP,
        CHECKPOINT_REPORTED_GAP,
        CHECKPOINT_UNANNOUNCED,
        CHECKPOINT_PENDING_GAP, /* of the tracker */
        CHECKPOINT_OWNER,       /* of the latest trace */
        CHECKPOINT_ASSEMBLY,    /* of the latest process, before its modules */
        CHECKPOINT_DETAILS,     /* of the latest process, like the stubs */
        _CHECKPOINT_TAG_MAX,
} CheckpointTag;

typedef struct CheckpointIo {
        bool is_writing;
        bool is_bad;   /* or the receiver has refused a piece */
        Strtab *names; /* borrowed */

        /* Writing. */
        uint8_t *bytes; /* owned: whole items, then a part of one */
        size_t n_bytes, n_allocated;
        uint32_t *numbers; /* owned: by Str, of the written names; 0: not written yet */
        uint32_t n_numbers;
        bool (*take)(void *data, const uint8_t *bytes, size_t n);
        void *data;

        /* Reading. */
        const uint8_t *at, *end; /* borrowed */
        GArray *strs;            /* owned: of Str, by number - 1, each with a reference */
        Account *account;        /* borrowed: of the process being read */
} CheckpointIo;

/* Writing: begins an item. */
void checkpoint_begin(CheckpointIo *io, CheckpointTag tag);
/* Writing: the item of a name, once, before the first item that uses it. */
void checkpoint_put_name(CheckpointIo *io, Str str);
/* Reading: the data is inconsistent. */
void checkpoint_refuse(CheckpointIo *io);

/* N bytes unchanged: for raw bytes and for arrays of numbers. */
void checkpoint_raw(CheckpointIo *io, void *value, size_t n);

static inline void checkpoint_u8(CheckpointIo *io, uint8_t *value)
{
        checkpoint_raw(io, value, sizeof(*value));
}

static inline void checkpoint_u32(CheckpointIo *io, uint32_t *value)
{
        checkpoint_raw(io, value, sizeof(*value));
}

static inline void checkpoint_i32(CheckpointIo *io, int32_t *value)
{
        checkpoint_raw(io, value, sizeof(*value));
}

static inline void checkpoint_u64(CheckpointIo *io, uint64_t *value)
{
        checkpoint_raw(io, value, sizeof(*value));
}

static inline void checkpoint_i64(CheckpointIo *io, int64_t *value)
{
        checkpoint_raw(io, value, sizeof(*value));
}

static inline void checkpoint_u64_array(CheckpointIo *io, uint64_t *values, size_t n)
{
        checkpoint_raw(io, values, n * sizeof(*values));
}

void checkpoint_bool(CheckpointIo *io, bool *value);
/*
 * The number of the following elements, of SIZE bytes each; when reading, limited by the remaining
 * bytes.
 */
void checkpoint_count(CheckpointIo *io, uint32_t *count, size_t size);
/* A text, valid UTF-8, or NULL; when reading, newly allocated. */
void checkpoint_text(CheckpointIo *io, char **text);
/* When reading, the caller owns the reference. */
void checkpoint_str(CheckpointIo *io, Str *str);
