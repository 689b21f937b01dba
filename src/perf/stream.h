/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Stream: named samples, the format of .clrsym files
 *
 * STREAM_MAGIC, then records: a StreamHeader and its payload, in the machine's byte order, which is
 * little-endian on all supported machines. Texts precede the records that refer to them. The last
 * record is END; a stream without END is truncated.
 *
 * Plain C.
 */

#include "perf/named-kind.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STREAM_MAGIC   "clrsym perf 1\n"
#define STREAM_N_MAGIC (sizeof(STREAM_MAGIC) - 1)
/* Bytes; a longer record is malformed. */
#define STREAM_MAX_PAYLOAD (16u << 20)

typedef enum StreamType {
        STREAM_FRAME = 1, /* StreamFrame, its name, its module; frames are numbered from 0 */
        STREAM_TEXT,      /* bytes; texts are numbered from 0 */
        STREAM_SAMPLE,    /* StreamSample, uint32_t numbers of its frames, the leaf first */
        STREAM_END,
        STREAM_LINE,     /* StreamLine and the source's path, for the next frame */
        STREAM_CHECKSUM, /* hexadecimal checksum of the source, for the next frame */
        STREAM_PROCESS,  /* StreamProcess and its command line */
        STREAM_MARKER,   /* StreamMarker and its text */
        STREAM_PHYSICAL, /* uint32_t numbers of frames, the leaf first: the thread's own stack at
                            the next sample, whose stack differs */
} StreamType;

typedef struct StreamHeader {
        uint32_t type; /* StreamType */
        uint32_t size; /* of the payload */
} StreamHeader;

typedef struct StreamFrame {
        uint32_t n_name;   /* bytes, no NUL */
        uint32_t n_module; /* 0: not known */
        uint8_t kind;      /* NamedKind */
        uint8_t tier;      /* clrsym_tier */
        uint8_t is_marked; /* the name is not certain */
        uint8_t reserved;
} StreamFrame;

typedef struct StreamLine {
        uint32_t line; /* from 1 */
} StreamLine;

typedef struct StreamProcess {
        int32_t pid; /* as in the samples */
} StreamProcess;

/* An activity of a runtime. */
typedef struct StreamMarker {
        uint64_t begin, end; /* ns, of the samples' clock */
        int32_t pid, tid;    /* as in the samples */
        uint32_t kind;       /* ProfileMarkerKind */
        uint32_t reserved;
} StreamMarker;
/* A stream with more is malformed. */
#define STREAM_MAX_MARKERS (1u << 20)

typedef struct StreamSample {
        uint64_t time; /* ns, of perf's clock */
        uint64_t period;
        int32_t pid, tid;
        uint32_t comm;  /* number of a text */
        uint32_t event; /* number of a text */
} StreamSample;

/* Receives the contents of a stream. Texts are valid during the call. */
typedef struct StreamCalls {
        void (*frame)(void *data, const StreamFrame *frame, const char *name, const char *module);
        void (*sample)(void *data, const StreamSample *sample, const char *comm, const char *event,
                       const uint32_t *frames, size_t n);
        /* The line of the next frame. NULL: not wanted. */
        void (*line)(void *data, uint32_t line, const char *file);
        /* The checksum of the next frame's source. NULL: not wanted. */
        void (*checksum)(void *data, const char *checksum);
        /* NULL: not wanted. */
        void (*process)(void *data, int32_t pid, const char *command);
        /* False: the marker is malformed. NULL: not wanted. */
        bool (*marker)(void *data, const StreamMarker *marker, const char *text);
        /* The thread's own stack at the next sample. NULL: not wanted. */
        void (*physical)(void *data, const uint32_t *frames, size_t n);
} StreamCalls;

typedef struct StreamReader StreamReader;

/* NULL: no memory. */
StreamReader *stream_reader_new(const StreamCalls *calls, void *data);
void stream_reader_free(StreamReader *reader);

/* Takes the next N bytes of a stream. False: malformed; further bytes are ignored. */
bool stream_reader_take(StreamReader *reader, const void *bytes, size_t n);
/* True if the END record was read. */
bool stream_reader_is_whole(const StreamReader *reader);
