/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Data stream: the packets and events of one stream, from one or more files
 *
 * A file is read by pread() through one window of CTF_WINDOW bytes, or more if an event is larger.
 * The file may therefore grow or shrink meanwhile, and memory does not depend on its size. After a
 * rotation of the session, a stream has several files.
 */

#include "ctf/layout.h"
#include "event/stream.h"

#define CTF_WINDOW (128u << 10)
/* Most bytes of one event. Sub-buffers of LTTng, which hold whole events, are smaller. */
#define CTF_MAX_EVENT (64u << 20)

typedef struct CtfDataFile {
        char *path;        /* owned */
        CtfLayout *layout; /* borrowed */
        uint64_t offset;   /* of its first packet, in bytes; 0 except for a piece of a file */
        uint64_t end;      /* in bytes, when it was opened */
        uint64_t begin;    /* of its first packet, in cycles */
        uint64_t last;     /* of the latest of its packets, in cycles */
        uint64_t before;   /* bytes of the stream's files before it */
} CtfDataFile;

void ctf_data_file_free(void *file);

typedef enum CtfItemType {
        CTF_ITEM_EVENT,
        CTF_ITEM_DISCARDED_EVENTS,
        CTF_ITEM_DISCARDED_PACKETS,
        CTF_ITEM_PACKET_BEGIN,
        CTF_ITEM_PACKET_END,
        CTF_ITEM_END,  /* of the stream */
        CTF_ITEM_NONE, /* without files: ctf_data_stream_set_packet() is next */
} CtfItemType;

/* The head of a packet. Sizes are in bits. */
typedef struct CtfPacket {
        uint64_t offset; /* in its file, in bytes */
        uint64_t content_size;
        uint64_t size;
        uint64_t first_event; /* bit in the packet */

        bool has_stream_id;
        uint64_t stream_id;
        bool has_begin, has_end, has_sequence_number, has_discarded;
        uint64_t begin, end; /* clock values, in cycles */
        uint64_t sequence_number;
        uint64_t discarded;
} CtfPacket;

typedef enum CtfStreamState {
        CTF_STREAM_FILE,   /* the next file has to be opened */
        CTF_STREAM_PACKET, /* a packet's head is next */
        CTF_STREAM_LOST_EVENTS,
        CTF_STREAM_LOST_PACKETS,
        CTF_STREAM_BEGIN, /* of a packet */
        CTF_STREAM_EVENT,
        CTF_STREAM_OVER,
        CTF_STREAM_NO_PACKET, /* without files: the next packet has not been handed over */
} CtfStreamState;

/*
 *   FILE -> PACKET -> LOST_EVENTS -> LOST_PACKETS -> BEGIN -> EVENT -+-> OVER
 *     ^       ^                                               |      |
 *     |       +--------------- end of the packet -------------+      |
 *     +----------------------- end of the file ----------------------+
 *
 * A stream without files gets its packets, in order, from ctf_data_stream_set_packet():
 *
 *   NO_PACKET -> LOST_EVENTS -> LOST_PACKETS -> BEGIN -> EVENT -+
 *     ^                                                        |
 *     +------------------ end of the packet -------------------+
 */
typedef struct CtfDataStream {
        StreamIdentity *identity; /* owned */
        bool has_pid;             /* the trace's environment names its only process */
        int32_t pid;
        bool has_clock;
        uint64_t frequency;
        int64_t clock_offset; /* realtime less the clock's value, in ns */
        int64_t order_offset; /* the same, with babeltrace2's rounding */
        bool is_absolute;
        GPtrArray *files;    /* owned CtfDataFile, in order; NULL: packets are handed over */
        size_t least_window; /* bytes: CTF_WINDOW, or less if there are many streams */
        bool keeps_open;     /* keeps its file open between two windows */
        CtfStreamState state;
        guint i_file;
        int fd;
        CtfLayout *layout; /* borrowed: of the file */
        CtfPacket packet;
        bool has_previous; /* `previous` is the previous packet */
        CtfPacket previous;
        uint8_t *window; /* owned */
        size_t n_window; /* allocated */
        CtfCursor cursor;
        CtfSlot *slots;        /* owned */
        uint32_t n_slots;      /* allocated */
        const uint8_t *memory; /* borrowed: the packet handed over, or NULL */
        uint64_t n_events;     /* of any kind */
        void *user;            /* for the owner of the reader */

        /* The item found by ctf_data_stream_next(). */
        CtfItemType item;
        uint64_t time; /* ns of the clock; of a loss its begin */
        int64_t order; /* its ctf_data_stream_order() */
        CtfEventLayout *event;
        /*
         * Bits from the packet's first: of PACKET_BEGIN the packet context, of EVENT its contexts.
         * The item's bytes from there to cursor.at are in the cursor's window.
         */
        uint64_t context_at;
        StreamGap gap;
} CtfDataStream;

/*
 * Reads the head of the packet at OFFSET of FD, a file of SIZE bytes. *LAYOUT is any of the
 * trace's, and becomes that of the packet's stream class. False with ERROR set: the packet is
 * damaged, or truncated.
 */
bool ctf_packet_read(int fd, uint64_t size, uint64_t offset, CtfLayout **layout,
                     CtfPacket *ret_packet, GError **error);

/*
 * The same for a packet at the begin of N bytes in memory. The bytes may be incomplete: the size in
 * the head is not compared with N.
 */
bool ctf_packet_parse(const uint8_t *bytes, size_t n, CtfLayout **layout, CtfPacket *ret_packet,
                      GError **error);

/* Takes over IDENTITY. */
CtfDataStream *ctf_data_stream_new(StreamIdentity *identity, const CtfLayout *layout);
void ctf_data_stream_free(CtfDataStream *stream);

/* Bytes read of its files, up to the present window. */
uint64_t ctf_data_stream_n_read(const CtfDataStream *stream);

/* ns of the stream's clock for a value in cycles. */
uint64_t ctf_data_stream_ns(const CtfDataStream *stream, uint64_t cycles);
/* ns since the epoch, with babeltrace2's rounding, if the clock is absolute. */
int64_t ctf_data_stream_order(const CtfDataStream *stream, uint64_t cycles);

/*
 * Moves to the next item. With SKIP, unwanted events are counted and skipped. False with ERROR set.
 */
bool ctf_data_stream_next(CtfDataStream *stream, bool skip, GError **error);

/* Goes back to the beginning: the next item is the first. */
void ctf_data_stream_rewind(CtfDataStream *stream);

/*
 * Hands over the next packet of a stream without files: N BYTES, borrowed until all of its items
 * are read. LAYOUT is of the trace, which may have more metadata than at the packet before. False
 * with ERROR set, and the stream unchanged: the packet is damaged, or does not end within N bytes.
 */
bool ctf_data_stream_set_packet(CtfDataStream *stream, CtfLayout *layout, const uint8_t *bytes,
                                size_t n, GError **error);
/* Skips the rest of the packet handed over. Its losses are counted. */
void ctf_data_stream_drop_packet(CtfDataStream *stream);

/* The outcome of decoding an event. */
typedef enum CtfDecode {
        CTF_DECODE_RECORD,
        CTF_DECODE_SKIPPED,    /* its bytes do not fit its row: counted */
        CTF_DECODE_NO_PROCESS, /* neither the event nor its trace names its process */
        CTF_DECODE_NO_CLOCK,   /* its stream has no clock */
} CtfDecode;

/*
 * Decodes STREAM's present event. The record's views are valid until SCRATCH is used again or the
 * stream moves.
 */
CtfDecode ctf_data_stream_decode(CtfDataStream *stream, DecodeScratch *scratch, Record *ret_record);
