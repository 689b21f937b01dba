/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Ingest protocol: a feeder's frames to the daemon, and the daemon's few frames in reply
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
 * A batch is all frames between two COMMITs: the daemon applies it as a whole when COMMIT arrives,
 * or not at all. A batch never ends between two events of a stream with one time. Records at or
 * below their stream's watermark (the time of the last record applied) are dropped as known. So are
 * gaps that end at or below the last gap of that kind. Sending a trace again therefore changes
 * nothing.
 *
 * A stream's identity is (trace UUID, stream class id, stream id), equal live and on disk. Stream
 * numbers are the connection's own, counted from 0. When the batch with a STREAM_CLOSE is
 * COMMITTED, its number may be used for another stream.
 */

#include "event/record.h"
#include "event/stream.h"

#include <glib.h>

#define INGEST_VERSION     1
#define INGEST_HEADER_SIZE 8
/* One frame: the largest blob of the runtime (64 KiB of UTF-16 names) with room to spare. */
#define INGEST_MAX_PAYLOAD (1u << 20)
/*
 * One batch. A feeder commits far below this limit; events of one equal time can enlarge a batch.
 */
#define INGEST_MAX_BATCH   (64u << 20)
#define INGEST_MAX_STREAMS 4096 /* open at a time */
/*
 * In a PROGRESS: the time is in ns since 1970, and holds for every stream of the live session, even
 * for streams not opened because they have no events. `clrsym feed` means no more. The daemon
 * applies it, at the end of the batch, to the traces with a stream open on this connection. For the
 * daemon it also means that these traces lost nothing from that time on.
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
        INGEST_PROCESS_GAP, /* feeder: an interval in which no session recorded a process; of no
                             * stream */
        INGEST_ACK = 64,    /* daemon: stream, time: stored up to here */
        INGEST_COMMITTED,   /* daemon: one for each COMMIT, after its ACKs */
        INGEST_HOLD,        /* daemon: stop pulling events until GO */
        INGEST_GO,
        INGEST_ERROR, /* daemon: one string, the reason of the disconnection */
} IngestType;

/* Encoders append one whole frame to OUT. */
void ingest_put_hello(GByteArray *out, uint32_t version, const char *program);
void ingest_put_stream_open(GByteArray *out, uint32_t number, const StreamIdentity *stream);
/* False for a record of more than INGEST_MAX_PAYLOAD. */
bool ingest_record_fits(const Record *record);
/* False, with OUT as it was, if the record does not fit. */
bool ingest_put_record(GByteArray *out, uint32_t stream, const Record *record);
/*
 * The record's program, as a RECORD of an event that the runtime does not have: older daemons
 * ignore it. The name must be UTF-8; a long name is truncated.
 */
void ingest_put_program(GByteArray *out, uint32_t stream, const Record *record);
void ingest_put_gap(GByteArray *out, uint32_t stream, const StreamGap *gap);
void ingest_put_progress(GByteArray *out, uint32_t stream, uint64_t time);
void ingest_put_stream_close(GByteArray *out, uint32_t stream);
void ingest_put_process_gap(GByteArray *out, const ProcessGap *gap);
void ingest_put_report(GByteArray *out, const FeederReport *report);
void ingest_put_ack(GByteArray *out, uint32_t stream, uint64_t time);
void ingest_put_error(GByteArray *out, const char *message);
/* COMMIT, COMMITTED, HOLD, GO: no payload. */
void ingest_put_empty(GByteArray *out, IngestType type);

/* One frame in a buffer. */
typedef struct IngestFrame {
        IngestType type;
        const uint8_t *payload;
        uint32_t n_payload;
} IngestFrame;

/*
 * Reads one complete frame at the start of BYTES. Returns its size with header, 0 if more bytes are
 * needed, or -EBADMSG for a length over INGEST_MAX_PAYLOAD.
 */
ssize_t ingest_frame_next(const uint8_t *bytes, size_t n_bytes, IngestFrame *ret_frame);

/* The whole frame, with its header. */
static inline const uint8_t *ingest_frame_bytes(const IngestFrame *frame, size_t *ret_n)
{
        *ret_n = INGEST_HEADER_SIZE + (size_t)frame->n_payload;
        return frame->payload - INGEST_HEADER_SIZE;
}

/*
 * These read members of a frame that is passed on without decoding. The stream number is that of a
 * STREAM_OPEN, RECORD, GAP, PROGRESS, STREAM_CLOSE or ACK; the time is that of a RECORD, PROGRESS
 * or ACK. False for another type, or a payload that is too short.
 */
bool ingest_frame_stream(const IngestFrame *frame, uint32_t *ret_number);
bool ingest_frame_time(const IngestFrame *frame, uint64_t *ret_time);
/* Appends FRAME, which must have a stream number, with another NUMBER. */
void ingest_put_renumbered(GByteArray *out, const IngestFrame *frame, uint32_t number);
/* The same in place: FRAME points to its header. */
void ingest_renumber(uint8_t *frame, uint32_t number);

/* Decoders return 0, or -EBADMSG for a malformed payload. Views point into the frame. */
int ingest_get_hello(const IngestFrame *frame, uint32_t *ret_version);
int ingest_get_stream_open(const IngestFrame *frame, uint32_t *ret_number, StreamIdentity *stream);
/* -ENOENT: well formed, but an event that this build has no row for. */
int ingest_get_record(const IngestFrame *frame, uint32_t *ret_stream, Record *ret_record);
/* A RECORD with the program of a process, and no event. -ENOENT: another RECORD. */
int ingest_get_program(const IngestFrame *frame, uint32_t *ret_stream, Record *ret_record);
int ingest_get_gap(const IngestFrame *frame, uint32_t *ret_stream, StreamGap *ret_gap);
/* PROGRESS and ACK. */
int ingest_get_stream_time(const IngestFrame *frame, uint32_t *ret_stream, uint64_t *ret_time);
int ingest_get_stream_close(const IngestFrame *frame, uint32_t *ret_stream);
int ingest_get_process_gap(const IngestFrame *frame, ProcessGap *ret_gap);
int ingest_get_report(const IngestFrame *frame, FeederReport *ret_report);
/* The text of an INGEST_ERROR, newly allocated, made printable. */
char *ingest_get_error(const IngestFrame *frame);
