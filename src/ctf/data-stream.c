/* SPDX-License-Identifier: MIT */
#include "ctf/data-stream.h"

#include "ctf/error.h"
#include "util/fd.h"
#include "util/seconds-text.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#define CTF_MAGIC 0xc1fc1fc1u

/* Bytes read for the head of a packet, which has under 200; the rest is used, too. */
#define HEAD_SIZE 4096u
/* Most fields of packet headers and contexts that other fields refer to; LTTng has none. */
#define CTF_MAX_HEAD_SLOTS 64

static bool stream_fail(GError **error, CtfError code, uint64_t offset, const char *what)
{
        g_set_error(error, CTF_ERROR, code, "packet at byte %" PRIu64 ": %s", offset, what);
        return false;
}

/* Reads up to N bytes, less only at the end of the file; -1 with errno set. */
static ssize_t stream_read_at(int fd, uint8_t *bytes, size_t n, uint64_t offset)
{
        size_t got = 0;

        while (got < n) {
                ssize_t r = pread(fd, bytes + got, n - got, (off_t)(offset + got));

                if (r < 0 && errno == EINTR)
                        continue;
                if (r < 0)
                        return -1;
                if (r == 0)
                        break;
                got += (size_t)r;
        }
        return (ssize_t)got;
}

static bool packet_run(const CtfProgram *program, CtfCursor *cursor, CtfSlot *slots,
                       uint64_t offset, GError **error)
{
        return ctf_program_run(program, cursor, slots) == CTF_RUN_OK ||
               stream_fail(error, CTF_ERROR_DAMAGED, offset, "its head is not whole");
}

static uint64_t packet_role(const CtfCursor *cursor, CtfRole role, bool *ret_has)
{
        *ret_has = ctf_cursor_has(cursor, role);
        return *ret_has ? cursor->roles[role] : 0;
}

static bool packet_check(const CtfPacket *packet, uint64_t size, GError **error)
{
        uint64_t left = size - packet->offset;

        if (packet->size == 0 || packet->size % 8 || packet->content_size > packet->size ||
            packet->first_event > packet->content_size)
                return stream_fail(error, CTF_ERROR_DAMAGED, packet->offset, "its sizes are wrong");
        if (packet->size / 8 > left)
                return stream_fail(error, CTF_ERROR_DAMAGED, packet->offset,
                                   "it is longer than its file: the file was cut");
        return true;
}

/*
 * The layout of the packet's stream class; a packet without an id has the only class, or number 0.
 */
static CtfLayout *packet_layout(CtfLayout *any, const CtfCursor *cursor)
{
        uint64_t id = 0;

        if (ctf_cursor_has(cursor, CTF_ROLE_STREAM_CLASS_ID))
                id = cursor->roles[CTF_ROLE_STREAM_CLASS_ID];
        else if (g_hash_table_size(any->siblings) == 1)
                return any;
        return g_hash_table_lookup(any->siblings, &id);
}

/* Parses the head of the packet at OFFSET of a file of SIZE bytes, from its first N BYTES. */
static bool packet_parse_at(const uint8_t *bytes, size_t n, uint64_t size, uint64_t offset,
                            CtfLayout **layout, CtfPacket *ret_packet, GError **error)
{
        const CtfTraceClass *trace = (*layout)->trace;
        CtfSlot slots[CTF_MAX_HEAD_SLOTS];
        CtfPacket packet = {.offset = offset};
        CtfCursor cursor = {.window = bytes, .end = 8 * (uint64_t)n};
        bool has_size, has_content, has_magic;
        CtfLayout *own;
        uint64_t magic;

        if ((*layout)->n_head_slots > CTF_MAX_HEAD_SLOTS)
                return stream_fail(error, CTF_ERROR_UNSUPPORTED, offset, "too many fields");
        if (!packet_run((*layout)->packet_header, &cursor, slots, offset, error))
                return false;
        magic = packet_role(&cursor, CTF_ROLE_MAGIC, &has_magic);
        if (has_magic && magic != CTF_MAGIC)
                return stream_fail(error, CTF_ERROR_DAMAGED, offset, "its magic number is wrong");
        if (cursor.uuid && trace->has_packet_uuid &&
            memcmp(cursor.uuid, trace->packet_uuid, sizeof(trace->packet_uuid)) != 0)
                return stream_fail(error, CTF_ERROR_DAMAGED, offset,
                                   "it is of another trace than the metadata");
        own = packet_layout(*layout, &cursor);
        if (!own)
                return stream_fail(error, CTF_ERROR_DAMAGED, offset,
                                   "it is of a stream that the metadata does not have");
        packet.stream_id = packet_role(&cursor, CTF_ROLE_STREAM_ID, &packet.has_stream_id);

        /* The roles of the header are done; the context has roles of its own. */
        if (own->n_head_slots > CTF_MAX_HEAD_SLOTS)
                return stream_fail(error, CTF_ERROR_UNSUPPORTED, offset, "too many fields");
        if (!packet_run(own->packet_context, &cursor, slots, offset, error))
                return false;
        packet.size = packet_role(&cursor, CTF_ROLE_PACKET_SIZE, &has_size);
        packet.content_size = packet_role(&cursor, CTF_ROLE_CONTENT_SIZE, &has_content);
        if (!has_size)
                packet.size = has_content ? (packet.content_size + 7) & ~UINT64_C(7)
                                          : 8 * (size - offset);
        if (!has_content)
                packet.content_size = packet.size;
        packet.begin = packet_role(&cursor, CTF_ROLE_TIMESTAMP, &packet.has_begin);
        packet.end = packet_role(&cursor, CTF_ROLE_TIMESTAMP_END, &packet.has_end);
        packet.sequence_number =
                packet_role(&cursor, CTF_ROLE_SEQUENCE_NUMBER, &packet.has_sequence_number);
        packet.discarded = packet_role(&cursor, CTF_ROLE_DISCARDED, &packet.has_discarded);
        packet.first_event = cursor.at;
        if (!packet_check(&packet, size, error))
                return false;
        *ret_packet = packet;
        *layout = own;
        return true;
}

bool ctf_packet_read(int fd, uint64_t size, uint64_t offset, CtfLayout **layout,
                     CtfPacket *ret_packet, GError **error)
{
        uint8_t bytes[HEAD_SIZE];
        ssize_t n = stream_read_at(fd, bytes, sizeof(bytes), offset);

        if (n < 0)
                return stream_fail(error, CTF_ERROR_SYSTEM, offset, g_strerror(errno));
        return packet_parse_at(bytes, (size_t)n, size, offset, layout, ret_packet, error);
}

bool ctf_packet_parse(const uint8_t *bytes, size_t n, CtfLayout **layout, CtfPacket *ret_packet,
                      GError **error)
{
        return packet_parse_at(bytes, n, UINT64_MAX / 8, 0, layout, ret_packet, error);
}

void ctf_data_file_free(void *data)
{
        CtfDataFile *file = data;

        g_free(file->path);
        g_free(file);
}

/* Realtime less the clock's value, in ns, clamped to 64 bits. */
static int64_t clock_offset_ns(const CtfClock *clock)
{
        __int128 offset = (__int128)clock->offset_seconds * (__int128)NS_PER_SECOND +
                          (__int128)((unsigned __int128)clock->offset_cycles * NS_PER_SECOND /
                                     clock->frequency);

        return offset > INT64_MAX ? INT64_MAX : offset < INT64_MIN ? INT64_MIN : (int64_t)offset;
}

/*
 * ns for a value in cycles, like babeltrace2's sort key: by doubles, which are inexact for values
 * over 2^53.
 */
static uint64_t rounded_ns(uint64_t frequency, uint64_t cycles)
{
        double ns;

        if (frequency == NS_PER_SECOND)
                return cycles;
        ns = 1e9 * (double)cycles / (double)frequency;
        return ns >= 18446744073709551615.0 ? UINT64_MAX : (uint64_t)ns;
}

/* Like clock_offset_ns(). */
static int64_t rounded_offset_ns(const CtfClock *clock)
{
        __int128 seconds = (__int128)clock->offset_seconds +
                           (__int128)(clock->offset_cycles / clock->frequency);
        __int128 offset = seconds * (__int128)NS_PER_SECOND +
                          rounded_ns(clock->frequency, clock->offset_cycles % clock->frequency);

        return offset > INT64_MAX ? INT64_MAX : offset < INT64_MIN ? INT64_MIN : (int64_t)offset;
}

CtfDataStream *ctf_data_stream_new(StreamIdentity *identity, const CtfLayout *layout)
{
        const CtfClock *clock = layout->stream->clock;
        CtfDataStream *stream = g_new0(CtfDataStream, 1);

        stream->identity = identity;
        stream->files = g_ptr_array_new_with_free_func(ctf_data_file_free);
        stream->fd = -1;
        stream->least_window = CTF_WINDOW;
        stream->keeps_open = true;
        stream->has_clock = clock != NULL;
        stream->frequency = clock ? clock->frequency : NS_PER_SECOND;
        stream->clock_offset = clock ? clock_offset_ns(clock) : 0;
        stream->order_offset = clock ? rounded_offset_ns(clock) : 0;
        stream->is_absolute = clock && clock->is_absolute;
        return stream;
}

void ctf_data_stream_free(CtfDataStream *stream)
{
        if (!stream)
                return;
        fd_clear(&stream->fd);
        stream_identity_free(stream->identity);
        g_ptr_array_unref(stream->files);
        g_free(stream->window);
        g_free(stream->slots);
        g_free(stream);
}

uint64_t ctf_data_stream_ns(const CtfDataStream *stream, uint64_t cycles)
{
        unsigned __int128 time;

        if (stream->frequency == NS_PER_SECOND)
                return cycles;
        time = (unsigned __int128)cycles * NS_PER_SECOND / stream->frequency;
        return time > UINT64_MAX ? UINT64_MAX : (uint64_t)time;
}

int64_t ctf_data_stream_order(const CtfDataStream *stream, uint64_t cycles)
{
        int64_t order;

        return __builtin_add_overflow(stream->order_offset, rounded_ns(stream->frequency, cycles),
                                      &order)
                       ? INT64_MAX
                       : order;
}

static void stream_set_cycles(CtfDataStream *stream, uint64_t cycles)
{
        stream->time = ctf_data_stream_ns(stream, cycles);
        stream->order = ctf_data_stream_order(stream, cycles);
}

/* Sets the begin of a loss to CYCLES. */
static void stream_set_gap_begin(CtfDataStream *stream, bool has_begin, uint64_t cycles)
{
        stream_set_cycles(stream, has_begin ? cycles : 0);
        stream->gap.begin = stream->time;
}

static const CtfDataFile *stream_file(const CtfDataStream *stream)
{
        return stream->files->pdata[stream->i_file];
}

/* Slots are counted again, because LAYOUT can lie at the address of a freed layout. */
static void stream_set_layout(CtfDataStream *stream, CtfLayout *layout)
{
        stream->layout = layout;
        if (stream->slots && layout->n_slots <= stream->n_slots)
                return;
        g_free(stream->slots);
        stream->slots = g_new0(CtfSlot, layout->n_slots + 1);
        stream->n_slots = layout->n_slots;
}

uint64_t ctf_data_stream_n_read(const CtfDataStream *stream)
{
        const CtfDataFile *file;

        if (stream->files->len == 0)
                return 0;
        if (stream->i_file < stream->files->len) {
                file = stream_file(stream);
                return file->before + stream->packet.offset - file->offset +
                       stream->cursor.window_begin;
        }
        file = stream->files->pdata[stream->files->len - 1];
        return file->before + file->end - file->offset;
}

/* Opens its file, unless it is open. */
static bool stream_open(CtfDataStream *stream, GError **error)
{
        if (stream->fd < 0)
                stream->fd = open(stream_file(stream)->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (stream->fd < 0)
                g_set_error(error, CTF_ERROR, CTF_ERROR_SYSTEM, "%s", g_strerror(errno));
        return stream->fd >= 0;
}

static void stream_begin_file(CtfDataStream *stream)
{
        const CtfDataFile *file = stream_file(stream);

        fd_clear(&stream->fd);
        stream_set_layout(stream, file->layout);
        stream->packet = (CtfPacket){.offset = file->offset};
        stream->cursor.window_begin = 0;
}

/* Reads the packet from byte BEGIN on into a window of at least SIZE bytes, or up to its end. */
static bool stream_fill(CtfDataStream *stream, uint64_t begin, size_t size, GError **error)
{
        const CtfPacket *packet = &stream->packet;
        uint64_t content = (packet->content_size + 7) / 8, n;
        CtfCursor *cursor = &stream->cursor;
        ssize_t got;

        if (stream->memory) {
                cursor->window = stream->memory;
                cursor->window_begin = 0;
                cursor->end = packet->content_size;
                return true;
        }
        /* A window larger than the packet is useless. */
        size = MIN(size, MAX(content, stream->least_window));
        if (size > CTF_MAX_EVENT)
                return stream_fail(error, CTF_ERROR_DAMAGED, packet->offset,
                                   "it has an event of more than 64 MiB");
        if (!stream_open(stream, error))
                return false;
        if (size > stream->n_window) {
                g_free(stream->window);
                stream->window = g_try_malloc(size);
                stream->n_window = stream->window ? size : 0;
                if (!stream->window)
                        return stream_fail(error, CTF_ERROR_SYSTEM, packet->offset,
                                           "not enough memory for an event");
        }
        n = MIN(content - begin, stream->n_window);
        got = stream_read_at(stream->fd, stream->window, (size_t)n, packet->offset + begin);
        if (got < 0)
                return stream_fail(error, CTF_ERROR_SYSTEM, packet->offset, g_strerror(errno));
        if (!stream->keeps_open)
                fd_clear(&stream->fd);
        if ((uint64_t)got < n)
                return stream_fail(error, CTF_ERROR_DAMAGED, packet->offset,
                                   "it ends early: its file was cut meanwhile");
        cursor->window = stream->window;
        cursor->window_begin = begin;
        cursor->end = MIN(8 * (begin + n), packet->content_size);
        return true;
}

static void stream_end_packet(CtfDataStream *stream)
{
        if (stream->packet.size) {
                stream->previous = stream->packet;
                stream->has_previous = true;
        }
}

/* The packet's head has been read: moves to its first event. */
static bool stream_begin_packet(CtfDataStream *stream, GError **error)
{
        const CtfPacket *packet = &stream->packet;

        /* The clock continues, because the begin of a packet can be stored in a few bits, too. */
        stream->cursor = (CtfCursor){.at = 0, .clock = stream->cursor.clock};
        /* Events can refer to the header and the context of their packet. */
        if (!stream_fill(stream, 0, stream->least_window, error) ||
            !packet_run(stream->layout->packet_header, &stream->cursor, stream->slots,
                        packet->offset, error))
                return false;
        stream->context_at = stream->cursor.at;
        if (!packet_run(stream->layout->packet_context, &stream->cursor, stream->slots,
                        packet->offset, error))
                return false;
        stream->state = CTF_STREAM_LOST_EVENTS;
        return true;
}

static bool stream_next_packet(CtfDataStream *stream, GError **error)
{
        const CtfDataFile *file = stream_file(stream);
        uint64_t offset = stream->packet.offset + stream->packet.size / 8;
        CtfLayout *layout = stream->layout;

        stream_end_packet(stream);
        if (offset >= file->end) {
                stream->i_file++;
                stream->state = CTF_STREAM_FILE;
                return true;
        }
        if (!stream_open(stream, error) ||
            !ctf_packet_read(stream->fd, file->end, offset, &layout, &stream->packet, error))
                return false;
        if (layout != stream->layout)
                return stream_fail(error, CTF_ERROR_DAMAGED, offset,
                                   "it is of another stream than the one before");
        return stream_begin_packet(stream, error);
}

bool ctf_data_stream_set_packet(CtfDataStream *stream, CtfLayout *layout, const uint8_t *bytes,
                                size_t n, GError **error)
{
        CtfPacket packet;

        if (!ctf_packet_parse(bytes, n, &layout, &packet, error))
                return false;
        if (packet.size / 8 > n)
                return stream_fail(error, CTF_ERROR_DAMAGED, 0,
                                   "it is longer than the bytes that were received");
        if (layout->stream->id != stream->identity->class_id)
                return stream_fail(error, CTF_ERROR_DAMAGED, 0,
                                   "it is of another stream than the one before");
        stream_set_layout(stream, layout);
        stream->packet = packet;
        stream->memory = bytes;
        if (stream_begin_packet(stream, error))
                return true;
        ctf_data_stream_drop_packet(stream);
        return false;
}

void ctf_data_stream_drop_packet(CtfDataStream *stream)
{
        stream_end_packet(stream);
        stream->packet = (CtfPacket){0};
        stream->memory = NULL;
        stream->event = NULL;
        stream->item = CTF_ITEM_NONE;
        stream->state = CTF_STREAM_NO_PACKET;
}

/* True if there is a loss to report, by babeltrace2's count. */
static bool stream_find_lost_events(CtfDataStream *stream)
{
        const CtfPacket *packet = &stream->packet, *previous = &stream->previous;

        stream->state = CTF_STREAM_LOST_PACKETS;
        if (!packet->has_discarded)
                return false;
        stream->gap =
                (StreamGap){.kind = GAP_EVENTS, .end = UINT64_MAX, .count = GAP_COUNT_UNKNOWN};
        if (!stream->has_previous || !previous->has_discarded) {
                if (packet->discarded == 0)
                        return false;
                stream_set_gap_begin(stream, packet->has_begin, packet->begin);
        } else {
                if (packet->discarded <= previous->discarded)
                        return false;
                stream->gap.count = packet->discarded - previous->discarded;
                stream_set_gap_begin(stream, previous->has_end, previous->end);
        }
        if (packet->has_end)
                stream->gap.end = ctf_data_stream_ns(stream, packet->end);
        stream->item = CTF_ITEM_DISCARDED_EVENTS;
        return true;
}

static bool stream_find_lost_packets(CtfDataStream *stream)
{
        const CtfPacket *packet = &stream->packet, *previous = &stream->previous;

        stream->state = CTF_STREAM_BEGIN;
        if (!packet->has_sequence_number || !stream->has_previous ||
            !previous->has_sequence_number ||
            packet->sequence_number <= previous->sequence_number ||
            packet->sequence_number - previous->sequence_number == 1)
                return false;
        stream->gap = (StreamGap){
                .kind = GAP_PACKETS,
                .end = packet->has_begin ? ctf_data_stream_ns(stream, packet->begin) : UINT64_MAX,
                .count = packet->sequence_number - previous->sequence_number - 1,
        };
        stream_set_gap_begin(stream, previous->has_end, previous->end);
        stream->item = CTF_ITEM_DISCARDED_PACKETS;
        return true;
}

/* Runs the programs of one event from the cursor on. */
static CtfRunResult stream_run_event(CtfDataStream *stream, CtfEventLayout **ret_event)
{
        const CtfLayout *layout = stream->layout;
        CtfCursor *cursor = &stream->cursor;
        CtfRunResult result;

        *ret_event = NULL;
        cursor->has_roles = 0;
        result = ctf_program_run(layout->event_header, cursor, stream->slots);
        if (result != CTF_RUN_OK)
                return result;
        *ret_event = ctf_layout_event(layout, ctf_cursor_has(cursor, CTF_ROLE_EVENT_CLASS_ID)
                                                      ? cursor->roles[CTF_ROLE_EVENT_CLASS_ID]
                                                      : layout->event_id);
        if (!*ret_event)
                return CTF_RUN_INVALID;
        stream->context_at = cursor->at;
        result = ctf_program_run(layout->event_context, cursor, stream->slots);
        return result != CTF_RUN_OK ? result
                                    : ctf_program_run((*ret_event)->program, cursor, stream->slots);
}

static bool stream_fail_event(const CtfDataStream *stream, uint64_t at, const CtfEventLayout *event,
                              CtfRunResult result, GError **error)
{
        const char *what = result == CTF_RUN_SHORT ? "does not end in it"
                           : event                 ? "has a value that its metadata excludes"
                                   : "is of a class that the metadata does not have";

        g_set_error(error, CTF_ERROR, CTF_ERROR_DAMAGED,
                    "packet at byte %" PRIu64 ": its event at byte %" PRIu64 " %s",
                    stream->packet.offset, at / 8, what);
        return false;
}

/* Moves to the next event, or to the packet's end. */
static bool stream_next_event(CtfDataStream *stream, GError **error)
{
        CtfCursor *cursor = &stream->cursor;
        const uint64_t at = cursor->at, clock = cursor->clock;
        CtfRunResult result;

        if (at >= stream->packet.content_size) {
                stream->item = CTF_ITEM_PACKET_END;
                stream->event = NULL;
                if (stream->packet.has_end)
                        cursor->clock = stream->packet.end;
                stream_set_cycles(stream, cursor->clock);
                stream->state = stream->memory ? CTF_STREAM_NO_PACKET : CTF_STREAM_PACKET;
                return true;
        }
        for (;;) {
                size_t size;

                result = stream_run_event(stream, &stream->event);
                if (result == CTF_RUN_OK)
                        break;
                if (result != CTF_RUN_SHORT || cursor->end == stream->packet.content_size)
                        return stream_fail_event(stream, at, stream->event, result, error);
                /*
                 * The event continues after the window. If it begins at the window's begin, a
                 * larger window is needed.
                 */
                size = at / 8 == cursor->window_begin ? 2 * stream->n_window : stream->n_window;
                if (!stream_fill(stream, at / 8, size, error))
                        return false;
                cursor->at = at;
                cursor->clock = clock;
        }
        if (cursor->at == at)
                return stream_fail_event(stream, at, stream->event, CTF_RUN_INVALID, error);
        stream->item = CTF_ITEM_EVENT;
        stream_set_cycles(stream, cursor->clock);
        return true;
}

bool ctf_data_stream_next(CtfDataStream *stream, bool skip, GError **error)
{
        for (;;)
                switch (stream->state) {
                case CTF_STREAM_FILE:
                        if (stream->i_file == stream->files->len) {
                                stream->state = CTF_STREAM_OVER;
                                break;
                        }
                        stream_begin_file(stream);
                        stream->state = CTF_STREAM_PACKET;
                        break;
                case CTF_STREAM_PACKET:
                        if (!stream_next_packet(stream, error))
                                return false;
                        break;
                case CTF_STREAM_LOST_EVENTS:
                        if (!stream_find_lost_events(stream))
                                break;
                        return true;
                case CTF_STREAM_LOST_PACKETS:
                        if (!stream_find_lost_packets(stream))
                                break;
                        return true;
                case CTF_STREAM_BEGIN:
                        stream->state = CTF_STREAM_EVENT;
                        stream->item = CTF_ITEM_PACKET_BEGIN;
                        stream_set_cycles(stream, stream->packet.has_begin ? stream->packet.begin
                                                                           : stream->cursor.clock);
                        return true;
                case CTF_STREAM_EVENT:
                        if (!stream_next_event(stream, error))
                                return false;
                        if (stream->item != CTF_ITEM_EVENT)
                                return true;
                        stream->n_events++;
                        if (stream->event->counts)
                                stream->event->counts->n_events++;
                        if (skip && !stream->event->event)
                                break;
                        return true;
                case CTF_STREAM_NO_PACKET:
                        if (stream->memory)
                                ctf_data_stream_drop_packet(stream);
                        stream->item = CTF_ITEM_NONE;
                        return true;
                case CTF_STREAM_OVER:
                        fd_clear(&stream->fd);
                        g_clear_pointer(&stream->window, g_free);
                        stream->n_window = 0;
                        stream->item = CTF_ITEM_END;
                        return true;
                }
}

void ctf_data_stream_rewind(CtfDataStream *stream)
{
        fd_clear(&stream->fd);
        stream->state = CTF_STREAM_FILE;
        stream->i_file = 0;
        stream->has_previous = false;
        stream->packet = stream->previous = (CtfPacket){0};
        stream->cursor = (CtfCursor){0};
        stream->n_events = 0;
}

/* A text of a fixed length is padded with NULs. */
static Value slot_text(const CtfSlot *slot)
{
        size_t n = slot->shift ? 0 : strnlen((const char *)slot->data, slot->n);

        return (Value){.data = slot->data, .n = (uint32_t)n};
}

CtfDecode ctf_data_stream_decode(CtfDataStream *stream, DecodeScratch *scratch, Record *ret_record)
{
        const CtfLayout *layout = stream->layout;
        const CtfSlot *slots = stream->slots;
        DecodeResult result;
        int64_t value;

        if (!stream->has_clock)
                return CTF_DECODE_NO_CLOCK;
        ret_record->process = (ProcessKey){.pid = stream->pid};
        ret_record->tid = 0;
        ret_record->program = stream_identity_program(stream->identity);
        if (layout->pid_ns && layout->pid_ns->kind == CTF_KIND_INTEGER)
                ret_record->process.pid_ns = slots[layout->pid_ns->slot].value;
        if (layout->vtid && layout->vtid->kind == CTF_KIND_INTEGER) {
                value = (int64_t)slots[layout->vtid->slot].value;
                if (value > 0 && value <= INT32_MAX)
                        ret_record->tid = (int32_t)value;
        }
        /* The name is a thread's, so it is useless without the thread. */
        if (ret_record->tid && layout->procname && ctf_class_is_text(layout->procname))
                ret_record->program = slot_text(&slots[layout->procname->slot]);
        value = layout->vpid && layout->vpid->kind == CTF_KIND_INTEGER
                        ? (int64_t)slots[layout->vpid->slot].value
                        : INT64_MAX;
        if (value >= INT32_MIN && value <= INT32_MAX)
                ret_record->process.pid = (int32_t)value;
        else if (!stream->has_pid)
                return CTF_DECODE_NO_PROCESS;
        ret_record->time = stream->time;
        result = ctf_layout_decode(stream->event, slots, scratch, ret_record);
        stream->event->counts->n_results[result]++;
        return result == DECODE_OK ? CTF_DECODE_RECORD : CTF_DECODE_SKIPPED;
}
