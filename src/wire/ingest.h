/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Ingest protocol: what a feeder tells the daemon, and the few words that come back
 *
 * A stream socket carries frames: u32 payload length, u16 type, u16 zero, payload. All numbers are
 * little-endian. A string is a u32 length and that many bytes of UTF-8, without NUL.
 *
 *   feeder                                daemon
 *   HELLO version, program
 *                                         HELLO version, then GO (or HOLD and, later, GO)
 *   STREAM_OPEN n, identity, clock
 *                                         ACK n, watermark: all up to it is known already
 *   RECORD, GAP, PROGRESS ...
 *   COMMIT                                (applied as a whole)
 *                                         ACK for each stream that moved, then COMMITTED
 *   STREAM_CLOSE n, COMMIT
 *
 * A batch is everything between two COMMITs: the daemon applies it as a whole when COMMIT arrives,
 * or not at all. It never ends between two events of equal time. Of a stream, records at or below
 * its watermark (the time of the last record applied) are dropped as known, and so are gaps that
 * end at or below the last gap of that kind: sending a trace again changes nothing.
 *
 * A stream's identity is (trace UUID, stream class id, stream id), equal live and on disk. Stream
 * numbers are the connection's own, counted from 0.
 */

#include "core/record.h"

#include <glib.h>

#define INGEST_VERSION     1
#define INGEST_HEADER_SIZE 8
/* One frame: the largest blob of the runtime (64 KiB of UTF-16 names) with room to spare. */
#define INGEST_MAX_PAYLOAD (1u << 20)
/* One batch. A feeder commits far below this; events of one equal time can make it grow. */
#define INGEST_MAX_BATCH     (64u << 20)
#define INGEST_MAX_STREAMS   4096
#define INGEST_COUNT_UNKNOWN UINT64_MAX
/*
 * In a PROGRESS: the time is in ns since 1970, and holds for every stream of the live session, also
 * for those that were not opened because nothing comes of them. To `clrsym feed` it says no more.
 * To the daemon, which takes it at the end of the batch for the traces of which the connection has
 * a stream open, also that they lost nothing from that time on.
 */
#define INGEST_ALL_STREAMS UINT32_MAX

typedef enum IngestType {
        INGEST_HELLO = 1,
        INGEST_STREAM_OPEN,
        INGEST_RECORD,
        INGEST_GAP,
        INGEST_PROGRESS,
        INGEST_STREAM_CLOSE,
        INGEST_COMMIT,
        INGEST_REPORT,      /* feeder: counters (events without a row, decode errors) */
        INGEST_PROCESS_GAP, /* feeder: a process told nothing for a while; of no stream */
        INGEST_ACK = 64,    /* daemon: stream, time: safe up to here */
        INGEST_COMMITTED,   /* daemon: one for each COMMIT, after its ACKs */
        INGEST_HOLD,        /* daemon: pull no more events until GO */
        INGEST_GO,
        INGEST_ERROR, /* daemon: one string, why it hangs up */
} IngestType;

typedef enum BufferScheme {
        BUFFER_SCHEME_UNKNOWN,
        BUFFER_SCHEME_PER_UID,
        BUFFER_SCHEME_PER_PID,
        _BUFFER_SCHEME_MAX,
} BufferScheme;

/* STREAM_OPEN. Strings are borrowed, never NULL, maybe empty; not NUL-terminated when decoded. */
typedef struct IngestStream {
        uint8_t trace_uuid[16]; /* zero: the trace has none */
        uint64_t class_id;
        uint64_t stream_id;
        BufferScheme scheme;
        uint32_t uid; /* PER_UID: whose buffers; UINT32_MAX: unknown */
        int32_t pid;  /* PER_PID: the process; else 0 */
        GString *hostname;
        GString *boot_id; /* this machine's, if the trace is of its present boot; else empty */
        GString *clock_name;
        /* Realtime = raw + offset: seconds + cycles of the clock class, in ns. */
        int64_t clock_offset;
} IngestStream;

IngestStream *ingest_stream_new(void);
void ingest_stream_free(IngestStream *stream);

typedef enum GapKind {
        GAP_EVENTS,  /* COUNT events were discarded */
        GAP_PACKETS, /* COUNT packets were discarded */
        _GAP_KIND_MAX,
} GapKind;

/* Times are raw clock values; begin == 0 and end == UINT64_MAX where the tracer does not say. */
typedef struct IngestGap {
        GapKind kind;
        uint64_t begin;
        uint64_t end;
        uint64_t count; /* or INGEST_COUNT_UNKNOWN */
} IngestGap;

/*
 * PROCESS_GAP: in [begin, end) nothing that happened in the process was told to any stream. With
 * end == UINT64_MAX that goes on; it ends with the next one of that process that ends, and one with
 * begin == end says no more than that.
 */
typedef struct IngestProcessGap {
        ProcessKey process; /* as itself sees it */
        uint64_t begin;
        uint64_t end;
} IngestProcessGap;

/* REPORT: sums of this connection so far. */
typedef struct IngestReport {
        uint64_t events;         /* CTF events seen, of any kind */
        uint64_t dotnet_events;  /* of them events of the runtime's providers */
        uint64_t unknown_events; /* runtime events without a row */
        uint64_t decode_errors;
} IngestReport;

/* Encoders append one whole frame to OUT. */
void ingest_put_hello(GByteArray *out, uint32_t version, const char *program);
void ingest_put_stream_open(GByteArray *out, uint32_t number, const IngestStream *stream);
/* False, with OUT as it was, if the record is over INGEST_MAX_PAYLOAD. */
bool ingest_put_record(GByteArray *out, uint32_t stream, const Record *record);
void ingest_put_gap(GByteArray *out, uint32_t stream, const IngestGap *gap);
void ingest_put_progress(GByteArray *out, uint32_t stream, uint64_t time);
void ingest_put_stream_close(GByteArray *out, uint32_t stream);
void ingest_put_process_gap(GByteArray *out, const IngestProcessGap *gap);
void ingest_put_report(GByteArray *out, const IngestReport *report);
void ingest_put_ack(GByteArray *out, uint32_t stream, uint64_t time);
void ingest_put_error(GByteArray *out, const char *message);
/* COMMIT, COMMITTED, HOLD, GO: no payload. */
void ingest_put_empty(GByteArray *out, IngestType type);

/* One frame as it lies in a buffer. */
typedef struct IngestFrame {
        IngestType type;
        const uint8_t *payload;
        uint32_t n_payload;
} IngestFrame;

/*
 * Looks for one whole frame at the start of BYTES. Returns its size with header, 0 if more bytes
 * are needed, or -EBADMSG for a length over INGEST_MAX_PAYLOAD.
 */
ssize_t ingest_frame_next(const uint8_t *bytes, size_t n_bytes, IngestFrame *ret_frame);

/* Decoders: 0, or -EBADMSG for a payload that is not of that form. Views point into the frame. */
int ingest_get_hello(const IngestFrame *frame, uint32_t *ret_version);
int ingest_get_stream_open(const IngestFrame *frame, uint32_t *ret_number, IngestStream *stream);
/* -ENOENT: well formed, but an event that this build has no row for. */
int ingest_get_record(const IngestFrame *frame, uint32_t *ret_stream, Record *ret_record);
int ingest_get_gap(const IngestFrame *frame, uint32_t *ret_stream, IngestGap *ret_gap);
/* PROGRESS and ACK. */
int ingest_get_stream_time(const IngestFrame *frame, uint32_t *ret_stream, uint64_t *ret_time);
int ingest_get_stream_close(const IngestFrame *frame, uint32_t *ret_stream);
int ingest_get_process_gap(const IngestFrame *frame, IngestProcessGap *ret_gap);
int ingest_get_report(const IngestFrame *frame, IngestReport *ret_report);
/* The text of an INGEST_ERROR, newly allocated, made printable. */
char *ingest_get_error(const IngestFrame *frame);
