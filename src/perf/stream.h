/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Stream: named samples, as a file .clrsym has them
 *
 * STREAM_MAGIC, then records: a StreamHeader and its payload, in the machine's own byte order,
 * which is little-endian on all machines that clrsym supports. Texts come before the records that
 * refer to them. The last record is END: a stream without one is incomplete.
 *
 * Plain C.
 */

#include "perf/named-kind.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STREAM_MAGIC   "clrsym perf 1\n"
#define STREAM_N_MAGIC (sizeof(STREAM_MAGIC) - 1)
/* No valid record is longer. */
#define STREAM_MAX_PAYLOAD (16u << 20)

typedef enum StreamType {
        STREAM_FRAME = 1, /* StreamFrame, its name, its module; frames count from 0 */
        STREAM_TEXT,      /* bytes; texts count from 0 */
        STREAM_SAMPLE,    /* StreamSample, uint32_t numbers of its frames, the leaf first */
        STREAM_END,
        STREAM_LINE,     /* StreamLine and the source's path: of the frame that comes next */
        STREAM_CHECKSUM, /* the source's, in hexadecimal digits: of the frame that comes next */
        STREAM_PROCESS,  /* StreamProcess and its command line */
        STREAM_MARKER,   /* StreamMarker and its text */
        STREAM_PHYSICAL, /* uint32_t numbers of frames, the leaf first: the thread's own stack at
                            the sample that comes next, which has another one */
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
        int32_t pid; /* as the samples have it */
} StreamProcess;

/* What a runtime did. */
typedef struct StreamMarker {
        uint64_t begin, end; /* ns, as the times of samples */
        int32_t pid, tid;    /* as the samples have them */
        uint32_t kind;       /* ProfileMarkerKind */
        uint32_t reserved;
} StreamMarker;
/* No valid stream has more. */
#define STREAM_MAX_MARKERS (1u << 20)

typedef struct StreamSample {
        uint64_t time; /* ns, of perf's clock */
        uint64_t period;
        int32_t pid, tid;
        uint32_t comm;  /* number of a text */
        uint32_t event; /* the same */
} StreamSample;

/* The contents of a stream, as they are read. Views are valid during the call. */
typedef struct StreamCalls {
        void (*frame)(void *data, const StreamFrame *frame, const char *name, const char *module);
        void (*sample)(void *data, const StreamSample *sample, const char *comm, const char *event,
                       const uint32_t *frames, size_t n);
        /* The line of the frame that comes next. NULL: lines do not count. */
        void (*line)(void *data, uint32_t line, const char *file);
        /* The checksum of its source. NULL: checksums do not count. */
        void (*checksum)(void *data, const char *checksum);
        /* NULL: command lines do not count. */
        void (*process)(void *data, int32_t pid, const char *command);
        /* False: the marker is malformed. NULL: markers do not count. */
        bool (*marker)(void *data, const StreamMarker *marker, const char *text);
        /* The thread's own stack at the sample that comes next. NULL: such stacks do not count. */
        void (*physical)(void *data, const uint32_t *frames, size_t n);
} StreamCalls;

typedef struct StreamReader StreamReader;

/* NULL if there is no memory. */
StreamReader *stream_reader_new(const StreamCalls *calls, void *data);
void stream_reader_free(StreamReader *reader);

/* Takes the next N bytes of a stream. False if they are malformed: then it takes no more. */
bool stream_reader_take(StreamReader *reader, const void *bytes, size_t n);
/* Was the END record read? */
bool stream_reader_is_whole(const StreamReader *reader);
