/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Image items: what an image consists of, each written and read by one and the same function
 *
 * An item is a tag and its fields. A field function copies from the value when the image is
 * written, and into it when it is read; what cannot be makes the image bad, and gives zeros.
 */

#include "core/strtab.h"

typedef enum ImageTag {
        IMAGE_NAME = 1, /* numbered from 1 on, as they come */
        IMAGE_TRACE,
        IMAGE_STREAM, /* of the trace before */
        IMAGE_GAP,
        IMAGE_PROCESS,
        IMAGE_MODULE, /* of the process before, and so on */
        IMAGE_RUNDOWN,
        IMAGE_PROCESS_TRACE,
        IMAGE_JITTING,
        IMAGE_KEPT_MAP,
        IMAGE_STUB,
        IMAGE_JIT_STATS,
        IMAGE_JIT_REASON,
        IMAGE_CHUNK,
        IMAGE_BODY,
        IMAGE_CODE_MAP,
        IMAGE_DROPPED,
        IMAGE_TRACKER, /* the last one */
        IMAGE_LAPSES,  /* of the process before */
        IMAGE_LAPSE,
        IMAGE_TOLD_LAPSE,
        IMAGE_STRANGER,
        IMAGE_EARLY_GAP, /* of the tracker */
        _IMAGE_TAG_MAX,
} ImageTag;

typedef struct ImageIo {
        bool is_writing;
        bool is_bad;   /* or nobody takes it any more */
        Strtab *names; /* borrowed */

        /* Writing. */
        uint8_t *bytes; /* owned: whole items, then a part of one */
        size_t n_bytes, n_allocated;
        uint32_t *numbers; /* owned: by Str, of the names that were told; 0: not yet */
        uint32_t n_numbers;
        bool (*take)(void *data, const uint8_t *bytes, size_t n);
        void *data;

        /* Reading. */
        const uint8_t *at, *end; /* borrowed */
        GArray *strs;            /* owned: of Str, by number - 1, with a reference each */
} ImageIo;

/* Before an item with names: tells those that were not yet. */
void image_tell_name(ImageIo *io, Str str);

/* Writing: an item begins. */
void image_begin(ImageIo *io, ImageTag tag);

/* N bytes, as they are. */
void image_raw(ImageIo *io, void *value, size_t n);
#define image_field(io, value) image_raw(io, &(value), sizeof(value))
void image_bool(ImageIo *io, bool *value);
/* How many elements of SIZE follow: when reading, no more than there are bytes for. */
void image_count(ImageIo *io, uint32_t *count, size_t size);
/* A text or NULL; when reading, newly allocated. */
void image_text(ImageIo *io, char **text);
/* When reading, with a reference that is the caller's. The name must have been told. */
void image_str(ImageIo *io, Str *str);
/* Reading: what was read makes no sense. */
void image_refuse(ImageIo *io);
