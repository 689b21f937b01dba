/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Data stream: the packets and events of one stream, from one or more files
 *
 * A file is read by pread() through one window, which is as large as the largest event, or
 * CTF_WINDOW if that is more; so a file may grow or shrink meanwhile, and memory does not depend
 * on its size. A stream has more than one file where a session was rotated.
 */

#include "ctf/layout.h"
#include "event/stream.h"

#define CTF_WINDOW (128u << 10)
/* Most bytes of one event. Sub-buffers of LTTng, which hold whole events, are smaller. */
#define CTF_MAX_EVENT (64u << 20)

typedef struct CtfDataFile {
        char *path;        /* owned */
        CtfLayout *layout; /* borrowed */
        uint64_t offset;   /* of its first packet, in bytes; not 0 only for a piece of a file */
        uint64_t end;      /* in bytes, when it was opened */
        uint64_t begin;    /* of its first packet, in cycles */
        uint64_t last;     /* the same of the latest of its packets */
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
        CTF_STREAM_FILE,   /* the next file is to be opened */
        CTF_STREAM_PACKET, /* a packet's head is next */
        CTF_STREAM_LOST_EVENTS,
        CTF_STREAM_LOST_PACKETS,
        CTF_STREAM_BEGIN, /* of a packet */
        CTF_STREAM_EVENT,
        CTF_STREAM_OVER,
        CTF_STREAM_NO_PACKET, /* without files: the next packet is still to be handed over */
} CtfStreamState;

/*
 *   FILE -> PACKET -> LOST_EVENTS -> LOST_PACKETS -> BEGIN -> EVENT -+-> OVER
 *     ^       ^                                               |      |
 *     |       +--------------- end of the packet -------------+      |
 *     +----------------------- end of the file ----------------------+
 *
 * A stream without files is handed its packets, in order, with ctf_data_stream_set_packet():
 *
 *   NO_PACKET -> LOST_EVENTS -> LOST_PACKETS -> BEGIN -> EVENT -+
 *     ^                                                        |
 *     +------------------ end of the packet -------------------+
 */
typedef struct CtfDataStream {
        StreamIdentity *identity; /* owned */
        bool has_pid;             /* the trace's environment names the one process */
        int32_t pid;
        bool has_clock;
        uint64_t frequency;
        int64_t clock_offset; /* realtime less the clock's value, in ns */
        int64_t order_offset; /* the same, as babeltrace2 rounds it */
        bool is_absolute;
        GPtrArray *files;    /* owned CtfDataFile, in order; without: packets are handed over */
        size_t least_window; /* bytes: CTF_WINDOW, unless there are many streams */
        bool keeps_open;     /* its file, between two windows */
        CtfStreamState state;
        guint i_file;
        int fd;
        CtfLayout *layout; /* borrowed: of the file */
        CtfPacket packet;
        bool has_previous; /* `previous` is the packet before */
        CtfPacket previous;
        uint8_t *window; /* owned */
        size_t n_window; /* allocated */
        CtfCursor cursor;
        CtfSlot *slots;        /* owned */
        uint32_t n_slots;      /* allocated */
        const uint8_t *memory; /* borrowed: the packet that was handed over, or NULL */
        uint64_t n_events;     /* of any kind */
        void *user;            /* of whoever reads the trace */

        /* The item that ctf_data_stream_next() found. */
        CtfItemType item;
        uint64_t time; /* ns of the clock; of a loss its begin */
        int64_t order; /* ctf_data_stream_order() of the same */
        CtfEventLayout *event;
        /*
         * Bits from the packet's first: of PACKET_BEGIN the packet context, of EVENT its contexts.
         * What the item has from there on is in the cursor's window, up to cursor.at.
         */
        uint64_t context_at;
        StreamGap gap;
} CtfDataStream;

/*
 * Reads the head of the packet at OFFSET of FD, a file of SIZE bytes. *LAYOUT is one of the trace's
 * and becomes that of the packet's stream class. False with ERROR set: the packet is damaged, or
 * not whole.
 */
bool ctf_packet_read(int fd, uint64_t size, uint64_t offset, CtfLayout **layout,
                     CtfPacket *ret_packet, GError **error);

/*
 * The same of a packet in memory: of N bytes, which begin with the packet. It need not be there as
 * a whole; what its head says of its size is not compared with N.
 */
bool ctf_packet_parse(const uint8_t *bytes, size_t n, CtfLayout **layout, CtfPacket *ret_packet,
                      GError **error);

/* IDENTITY becomes the stream's. */
CtfDataStream *ctf_data_stream_new(StreamIdentity *identity, const CtfLayout *layout);
void ctf_data_stream_free(CtfDataStream *stream);

/* Bytes of its files that were read: up to the present window. */
uint64_t ctf_data_stream_n_read(const CtfDataStream *stream);

/* ns of the stream's clock for a value in cycles. */
uint64_t ctf_data_stream_ns(const CtfDataStream *stream, uint64_t cycles);
/* ns since the epoch, where the clock is absolute: as babeltrace2 rounds them. */
int64_t ctf_data_stream_order(const CtfDataStream *stream, uint64_t cycles);

/*
 * Goes to the next item. Events that are not wanted are counted and passed over where SKIP is set.
 * False with ERROR set.
 */
bool ctf_data_stream_next(CtfDataStream *stream, bool skip, GError **error);

/* Goes back to the beginning: the next item is the first. */
void ctf_data_stream_rewind(CtfDataStream *stream);

/*
 * Hands over the next packet of a stream without files: N BYTES, borrowed until all of its items
 * are read, of a stream class of LAYOUT's trace, which may be another one than that of the packet
 * before: metadata grows. False with ERROR set: it is damaged, or it does not end in N bytes; the
 * stream is as it was.
 */
bool ctf_data_stream_set_packet(CtfDataStream *stream, CtfLayout *layout, const uint8_t *bytes,
                                size_t n, GError **error);
/* Passes over the rest of the packet that was handed over. What it lost is counted. */
void ctf_data_stream_drop_packet(CtfDataStream *stream);

/* The outcome of decoding an event. */
typedef enum CtfDecode {
        CTF_DECODE_RECORD,
        CTF_DECODE_SKIPPED,    /* its bytes are not what its row says: counted */
        CTF_DECODE_NO_PROCESS, /* neither the event nor its trace says which process it is of */
        CTF_DECODE_NO_CLOCK,   /* its stream has no clock */
} CtfDecode;

/*
 * Decodes the event that STREAM is at. The record's views are valid as long as SCRATCH is not used
 * again and the stream stays at its item.
 */
CtfDecode ctf_data_stream_decode(CtfDataStream *stream, DecodeScratch *scratch, Record *ret_record);
