/* SPDX-License-Identifier: MIT */
#include "wire/ingest.h"

#include "util/utf8.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/* The numbers on the wire. Feeders and daemons of other builds rely on them: never change them. */
static_assert(INGEST_HELLO == 1 && INGEST_STREAM_OPEN == 2 && INGEST_RECORD == 3 &&
              INGEST_GAP == 4 && INGEST_PROGRESS == 5 && INGEST_STREAM_CLOSE == 6 &&
              INGEST_COMMIT == 7 && INGEST_REPORT == 8 && INGEST_PROCESS_GAP == 9);
static_assert(INGEST_ACK == 64 && INGEST_COMMITTED == 65 && INGEST_HOLD == 66 && INGEST_GO == 67 &&
              INGEST_ERROR == 68);
static_assert(BUFFER_SCHEME_UNKNOWN == 0 && BUFFER_SCHEME_PER_UID == 1 &&
              BUFFER_SCHEME_PER_PID == 2 && _BUFFER_SCHEME_MAX == 3);
static_assert(GAP_EVENTS == 0 && GAP_PACKETS == 1 && _GAP_KIND_MAX == 2);
static_assert(PROVIDER_RUNTIME == 0 && PROVIDER_RUNDOWN == 1 && PROVIDER_PRIVATE == 2 &&
              PROVIDER_ASYNC == 3 && PROVIDER_UNIVERSAL_SYSTEM == 4 &&
              PROVIDER_UNIVERSAL_EVENTS == 5 && _PROVIDER_MAX == 6);

/* Fixed part of a RECORD: stream, time, pid_ns, pid, tid, provider, version, event id. */
#define RECORD_HEAD_SIZE (4 + 8 + 8 + 4 + 4 + 1 + 1 + 2)
/* The id, of DotNETRuntime's version 0, for the name of a program. */
#define PROGRAM_EVENT UINT16_MAX

/* Bytes of a number type on the wire; 0 for other types. */
static unsigned number_size(FieldType type)
{
        switch (type) {
        case FIELD_TYPE_U8:
        case FIELD_TYPE_BOOL:
                return 1;
        case FIELD_TYPE_U16:
                return 2;
        case FIELD_TYPE_U32:
                return 4;
        case FIELD_TYPE_U64:
                return 8;
        default:
                return 0;
        }
}

/* Writing: a cursor over room that was reserved once for the whole frame. */

static inline uint8_t *put_uint(uint8_t *at, uint64_t value, unsigned n_bytes)
{
        value = GUINT64_TO_LE(value);
        memcpy(at, &value, n_bytes);
        return at + n_bytes;
}

static uint8_t *put_bytes(uint8_t *at, const void *bytes, size_t n_bytes)
{
        if (n_bytes > 0)
                memcpy(at, bytes, n_bytes);
        return at + n_bytes;
}

static uint8_t *put_string(uint8_t *at, const char *string, size_t n_bytes)
{
        at = put_uint(at, n_bytes, 4);
        return put_bytes(at, string, n_bytes);
}

/* Appends a frame's header, reserves the payload, and returns its begin. */
static uint8_t *put_frame(GByteArray *out, IngestType type, size_t n_payload)
{
        size_t start = out->len;
        uint8_t *at;

        g_byte_array_set_size(out, (guint)(start + INGEST_HEADER_SIZE + n_payload));
        at = put_uint(out->data + start, n_payload, 4);
        at = put_uint(at, type, 2);
        return put_uint(at, 0, 2);
}

/* Length of the longest start of STRING that fits into MAX bytes without cutting a character. */
static size_t string_length(const char *string, size_t n_bytes, size_t max)
{
        const char *end;

        g_utf8_validate_len(string, MIN(n_bytes, max), &end);
        return (size_t)(end - string);
}

/* Longest text for people: program names, messages, host names. */
#define TEXT_MAX 4096

void ingest_put_hello(GByteArray *out, uint32_t version, const char *program)
{
        size_t n = string_length(program, strlen(program), TEXT_MAX);
        uint8_t *at = put_frame(out, INGEST_HELLO, 4 + 4 + n);

        at = put_uint(at, version, 4);
        put_string(at, program, n);
}

void ingest_put_stream_open(GByteArray *out, uint32_t number, const StreamIdentity *stream)
{
        const GString *const texts[] = {stream->hostname, stream->boot_id, stream->clock_name};
        size_t n_text = 0, lengths[G_N_ELEMENTS(texts)], i;
        uint8_t *at;

        for (i = 0; i < G_N_ELEMENTS(texts); i++) {
                lengths[i] = string_length(texts[i]->str, texts[i]->len, TEXT_MAX);
                n_text += 4 + lengths[i];
        }
        at = put_frame(out, INGEST_STREAM_OPEN, 4 + 16 + 8 + 8 + 1 + 4 + 4 + n_text + 8);
        at = put_uint(at, number, 4);
        at = put_bytes(at, stream->trace_uuid, 16);
        at = put_uint(at, stream->class_id, 8);
        at = put_uint(at, stream->stream_id, 8);
        at = put_uint(at, stream->scheme, 1);
        at = put_uint(at, stream->uid, 4);
        at = put_uint(at, (uint32_t)stream->pid, 4);
        for (i = 0; i < G_N_ELEMENTS(texts); i++)
                at = put_string(at, texts[i]->str, lengths[i]);
        put_uint(at, (uint64_t)stream->clock_offset, 8);
}

/* Bytes of one value on the wire. */
static size_t value_size(FieldType type, const Value *value)
{
        unsigned size = number_size(type);

        if (size > 0)
                return size;
        if (type == FIELD_TYPE_GUID)
                return 16;
        return 4 + (size_t)value->n * MAX(field_type_element_size(type), 1);
}

static uint8_t *put_value(uint8_t *at, FieldType type, const Value *value)
{
        unsigned size = number_size(type);

        if (type == FIELD_TYPE_BOOL)
                return put_uint(at, value->u != 0, 1);
        if (size > 0)
                return put_uint(at, value->u, size);
        if (type == FIELD_TYPE_GUID)
                return put_bytes(at, value->data, 16);
        size = MAX(field_type_element_size(type), 1);
        at = put_uint(at, value->n, 4);
        return put_bytes(at, value->data, (size_t)value->n * size);
}

static size_t record_size(const Record *record)
{
        const Event *event = record->event;
        size_t n = RECORD_HEAD_SIZE;
        unsigned i;

        for (i = 0; i < event->n_fields; i++)
                n += value_size(event->fields[i].type, &record->values[i]);
        return n;
}

bool ingest_record_fits(const Record *record)
{
        uint64_t most = RECORD_HEAD_SIZE;
        unsigned i;

        /* A value takes at most 16 bytes, or 4 and 8 for each of its bytes or elements. */
        for (i = 0; i < record->event->n_fields; i++)
                most += 16 + UINT64_C(8) * record->values[i].n;
        if (most <= INGEST_MAX_PAYLOAD)
                return true;
        return record_size(record) <= INGEST_MAX_PAYLOAD;
}

static inline uint8_t *put_record_head(uint8_t *at, uint32_t stream, const Record *record,
                                       unsigned provider, unsigned version, unsigned id)
{
        at = put_uint(at, stream, 4);
        at = put_uint(at, record->time, 8);
        at = put_uint(at, record->process.pid_ns, 8);
        at = put_uint(at, (uint32_t)record->process.pid, 4);
        at = put_uint(at, (uint32_t)record->tid, 4);
        at = put_uint(at, provider, 1);
        at = put_uint(at, version, 1);
        return put_uint(at, id, 2);
}

bool ingest_put_record(GByteArray *out, uint32_t stream, const Record *record)
{
        const Event *event = record->event;
        size_t n_payload = record_size(record);
        uint8_t *at;
        unsigned i;

        if (n_payload > INGEST_MAX_PAYLOAD)
                return false;

        at = put_frame(out, INGEST_RECORD, n_payload);
        at = put_record_head(at, stream, record, event->provider, event->version, event->id);
        for (i = 0; i < event->n_fields; i++)
                at = put_value(at, event->fields[i].type, &record->values[i]);
        return true;
}

void ingest_put_program(GByteArray *out, uint32_t stream, const Record *record)
{
        const char *name = (const char *)record->program.data;
        size_t n = string_length(name, record->program.n, TEXT_MAX);
        uint8_t *at = put_frame(out, INGEST_RECORD, RECORD_HEAD_SIZE + 4 + n);

        at = put_record_head(at, stream, record, PROVIDER_RUNTIME, 0, PROGRAM_EVENT);
        put_string(at, name, n);
}

void ingest_put_gap(GByteArray *out, uint32_t stream, const StreamGap *gap)
{
        uint8_t *at = put_frame(out, INGEST_GAP, 4 + 1 + 3 * 8);

        at = put_uint(at, stream, 4);
        at = put_uint(at, gap->kind, 1);
        at = put_uint(at, gap->begin, 8);
        at = put_uint(at, gap->end, 8);
        put_uint(at, gap->count, 8);
}

static void put_stream_time(GByteArray *out, IngestType type, uint32_t stream, uint64_t time)
{
        uint8_t *at = put_frame(out, type, 4 + 8);

        at = put_uint(at, stream, 4);
        put_uint(at, time, 8);
}

void ingest_put_progress(GByteArray *out, uint32_t stream, uint64_t time)
{
        put_stream_time(out, INGEST_PROGRESS, stream, time);
}

void ingest_put_stream_close(GByteArray *out, uint32_t stream)
{
        put_uint(put_frame(out, INGEST_STREAM_CLOSE, 4), stream, 4);
}

void ingest_put_report(GByteArray *out, const FeederReport *report)
{
        const bool has_later = report->later_events > 0;
        uint8_t *at = put_frame(out, INGEST_REPORT, (4 + has_later) * 8);

        at = put_uint(at, report->events, 8);
        at = put_uint(at, report->dotnet_events, 8);
        at = put_uint(at, report->unknown_events, 8);
        at = put_uint(at, report->decode_errors, 8);
        /* An older daemon rejects this member. */
        if (has_later)
                put_uint(at, report->later_events, 8);
}

void ingest_put_process_gap(GByteArray *out, const ProcessGap *gap)
{
        uint8_t *at = put_frame(out, INGEST_PROCESS_GAP, 8 + 4 + 8 + 8);

        at = put_uint(at, gap->process.pid_ns, 8);
        at = put_uint(at, (uint32_t)gap->process.pid, 4);
        at = put_uint(at, gap->begin, 8);
        put_uint(at, gap->end, 8);
}

void ingest_put_ack(GByteArray *out, uint32_t stream, uint64_t time)
{
        put_stream_time(out, INGEST_ACK, stream, time);
}

void ingest_put_error(GByteArray *out, const char *message)
{
        size_t n = string_length(message, strlen(message), TEXT_MAX);

        put_string(put_frame(out, INGEST_ERROR, 4 + n), message, n);
}

void ingest_put_empty(GByteArray *out, IngestType type)
{
        put_frame(out, type, 0);
}

/* Reading: a cursor that stays failed, so that only the end needs a check. */
typedef struct PayloadReader {
        const uint8_t *at;
        size_t n_left;
        bool is_bad;
} PayloadReader;

static PayloadReader payload_reader_new(const IngestFrame *frame)
{
        return (PayloadReader){.at = frame->payload, .n_left = frame->n_payload};
}

/* NULL if fewer bytes are left. */
static inline const uint8_t *payload_read_bytes(PayloadReader *reader, size_t n_bytes)
{
        const uint8_t *bytes = reader->at;

        if (reader->is_bad || reader->n_left < n_bytes) {
                reader->is_bad = true;
                return NULL;
        }
        reader->at += n_bytes;
        reader->n_left -= n_bytes;
        return bytes;
}

static inline uint64_t payload_read_uint(PayloadReader *reader, unsigned n_bytes)
{
        const uint8_t *bytes = payload_read_bytes(reader, n_bytes);
        uint64_t value = 0;

        if (!bytes)
                return 0;
        memcpy(&value, bytes, n_bytes);
        return GUINT64_FROM_LE(value);
}

/* The peer is not trusted: a string must be UTF-8 without NUL. */
static const uint8_t *payload_read_string(PayloadReader *reader, uint32_t *ret_n)
{
        uint32_t n = (uint32_t)payload_read_uint(reader, 4);
        const uint8_t *bytes = payload_read_bytes(reader, n);

        *ret_n = 0;
        if (!bytes)
                return NULL;
        if (!utf8_is_text((const char *)bytes, n)) {
                reader->is_bad = true;
                return NULL;
        }
        *ret_n = n;
        return bytes;
}

static void payload_read_text(PayloadReader *reader, GString *text)
{
        uint32_t n;
        const uint8_t *bytes = payload_read_string(reader, &n);

        g_string_truncate(text, 0);
        if (bytes)
                g_string_append_len(text, (const char *)bytes, n);
}

/* A payload must be read completely. */
static int payload_reader_result(const PayloadReader *reader)
{
        return reader->is_bad || reader->n_left > 0 ? -EBADMSG : 0;
}

ssize_t ingest_frame_next(const uint8_t *bytes, size_t n_bytes, IngestFrame *ret_frame)
{
        PayloadReader reader = {.at = bytes, .n_left = MIN(n_bytes, (size_t)INGEST_HEADER_SIZE)};
        uint32_t n_payload;
        uint16_t type, zero;

        if (n_bytes < INGEST_HEADER_SIZE)
                return 0;
        n_payload = (uint32_t)payload_read_uint(&reader, 4);
        type = (uint16_t)payload_read_uint(&reader, 2);
        zero = (uint16_t)payload_read_uint(&reader, 2);
        if (n_payload > INGEST_MAX_PAYLOAD || zero != 0)
                return -EBADMSG;
        if (n_bytes - INGEST_HEADER_SIZE < n_payload)
                return 0;
        ret_frame->type = (IngestType)type;
        ret_frame->payload = bytes + INGEST_HEADER_SIZE;
        ret_frame->n_payload = n_payload;
        return (ssize_t)INGEST_HEADER_SIZE + n_payload;
}

bool ingest_frame_stream(const IngestFrame *frame, uint32_t *ret_number)
{
        PayloadReader reader = payload_reader_new(frame);
        uint32_t number = (uint32_t)payload_read_uint(&reader, 4);

        switch ((int)frame->type) {
        case INGEST_STREAM_OPEN:
        case INGEST_RECORD:
        case INGEST_GAP:
        case INGEST_PROGRESS:
        case INGEST_STREAM_CLOSE:
        case INGEST_ACK:
                if (reader.is_bad)
                        return false;
                *ret_number = number;
                return true;
        default:
                return false;
        }
}

bool ingest_frame_time(const IngestFrame *frame, uint64_t *ret_time)
{
        PayloadReader reader = payload_reader_new(frame);
        uint64_t time;

        if (frame->type != INGEST_RECORD && frame->type != INGEST_PROGRESS &&
            frame->type != INGEST_ACK)
                return false;
        payload_read_uint(&reader, 4);
        time = payload_read_uint(&reader, 8);
        if (reader.is_bad)
                return false;
        *ret_time = time;
        return true;
}

void ingest_put_renumbered(GByteArray *out, const IngestFrame *frame, uint32_t number)
{
        size_t start = out->len, n;
        const uint8_t *bytes = ingest_frame_bytes(frame, &n);

        g_byte_array_append(out, bytes, (guint)n);
        ingest_renumber(out->data + start, number);
}

void ingest_renumber(uint8_t *frame, uint32_t number)
{
        put_uint(frame + INGEST_HEADER_SIZE, number, 4);
}

int ingest_get_hello(const IngestFrame *frame, uint32_t *ret_version)
{
        PayloadReader reader = payload_reader_new(frame);
        uint32_t n;

        *ret_version = (uint32_t)payload_read_uint(&reader, 4);
        payload_read_string(&reader, &n);
        return payload_reader_result(&reader);
}

int ingest_get_stream_open(const IngestFrame *frame, uint32_t *ret_number, StreamIdentity *stream)
{
        PayloadReader reader = payload_reader_new(frame);
        const uint8_t *uuid;
        uint8_t scheme;

        *ret_number = (uint32_t)payload_read_uint(&reader, 4);
        uuid = payload_read_bytes(&reader, 16);
        if (!uuid)
                return -EBADMSG;
        memcpy(stream->trace_uuid, uuid, 16);
        stream->class_id = payload_read_uint(&reader, 8);
        stream->stream_id = payload_read_uint(&reader, 8);
        scheme = (uint8_t)payload_read_uint(&reader, 1);
        stream->uid = (uint32_t)payload_read_uint(&reader, 4);
        stream->pid = (int32_t)payload_read_uint(&reader, 4);
        payload_read_text(&reader, stream->hostname);
        payload_read_text(&reader, stream->boot_id);
        payload_read_text(&reader, stream->clock_name);
        stream->clock_offset = (int64_t)payload_read_uint(&reader, 8);
        if (scheme >= _BUFFER_SCHEME_MAX)
                return -EBADMSG;
        stream->scheme = (BufferScheme)scheme;
        return payload_reader_result(&reader);
}

static void payload_read_value(PayloadReader *reader, FieldType type, Value *ret_value)
{
        uint32_t n;

        *ret_value = (Value){0};
        /* Sizes are constants, so that each number is one load; most fields are numbers. */
        switch (type) {
        case FIELD_TYPE_U8:
                ret_value->u = payload_read_uint(reader, 1);
                break;
        case FIELD_TYPE_BOOL:
                ret_value->u = payload_read_uint(reader, 1);
                if (ret_value->u > 1)
                        reader->is_bad = true;
                break;
        case FIELD_TYPE_U16:
                ret_value->u = payload_read_uint(reader, 2);
                break;
        case FIELD_TYPE_U32:
                ret_value->u = payload_read_uint(reader, 4);
                break;
        case FIELD_TYPE_U64:
                ret_value->u = payload_read_uint(reader, 8);
                break;
        case FIELD_TYPE_GUID:
                ret_value->data = payload_read_bytes(reader, 16);
                ret_value->n = 16;
                break;
        case FIELD_TYPE_WSTRING:
        case FIELD_TYPE_ASTRING:
                ret_value->data = payload_read_string(reader, &ret_value->n);
                break;
        default:
                n = (uint32_t)payload_read_uint(reader, 4);
                /* 64 bits, so that a false count cannot wrap to one that fits. */
                ret_value->data = payload_read_bytes(
                        reader, (size_t)n * MAX(field_type_element_size(type), 1));
                ret_value->n = ret_value->data ? n : 0;
        }
}

/* The members before a RECORD's fields. */
typedef struct RecordHead {
        unsigned provider, version, id;
} RecordHead;

static inline RecordHead payload_read_head(PayloadReader *reader, uint32_t *ret_stream,
                                           Record *ret_record)
{
        RecordHead head;

        *ret_stream = (uint32_t)payload_read_uint(reader, 4);
        ret_record->time = payload_read_uint(reader, 8);
        ret_record->process.pid_ns = payload_read_uint(reader, 8);
        ret_record->process.pid = (int32_t)payload_read_uint(reader, 4);
        ret_record->tid = (int32_t)payload_read_uint(reader, 4);
        ret_record->program = (Value){0};
        head.provider = (unsigned)payload_read_uint(reader, 1);
        head.version = (unsigned)payload_read_uint(reader, 1);
        head.id = (unsigned)payload_read_uint(reader, 2);
        return head;
}

int ingest_get_program(const IngestFrame *frame, uint32_t *ret_stream, Record *ret_record)
{
        PayloadReader reader = payload_reader_new(frame);
        RecordHead head = payload_read_head(&reader, ret_stream, ret_record);

        if (frame->type != INGEST_RECORD || reader.is_bad || head.provider != PROVIDER_RUNTIME ||
            head.version || head.id != PROGRAM_EVENT)
                return -ENOENT;
        ret_record->event = NULL;
        payload_read_value(&reader, FIELD_TYPE_ASTRING, &ret_record->program);
        return payload_reader_result(&reader);
}

int ingest_get_record(const IngestFrame *frame, uint32_t *ret_stream, Record *ret_record)
{
        PayloadReader reader = payload_reader_new(frame);
        RecordHead head = payload_read_head(&reader, ret_stream, ret_record);
        const Event *event;
        unsigned i;

        if (reader.is_bad)
                return -EBADMSG;
        event = event_by_id(head.provider, head.id, head.version);
        if (!event)
                return -ENOENT;

        ret_record->event = event;
        for (i = 0; i < event->n_fields; i++) {
                FieldType type = event->fields[i].type;
                int count;

                payload_read_value(&reader, type, &ret_record->values[i]);
                if (field_type_element_size(type) == 0)
                        continue;
                /* Two arrays may share one count, and code that walks both relies on that. */
                count = event_count_field(event, i);
                if (count >= 0 && ret_record->values[count].u != ret_record->values[i].n)
                        return -EBADMSG;
        }
        return payload_reader_result(&reader);
}

int ingest_get_gap(const IngestFrame *frame, uint32_t *ret_stream, StreamGap *gap)
{
        PayloadReader reader = payload_reader_new(frame);
        uint8_t kind;

        *ret_stream = (uint32_t)payload_read_uint(&reader, 4);
        kind = (uint8_t)payload_read_uint(&reader, 1);
        gap->begin = payload_read_uint(&reader, 8);
        gap->end = payload_read_uint(&reader, 8);
        gap->count = payload_read_uint(&reader, 8);
        if (kind >= _GAP_KIND_MAX || gap->begin > gap->end)
                return -EBADMSG;
        gap->kind = (GapKind)kind;
        return payload_reader_result(&reader);
}

int ingest_get_process_gap(const IngestFrame *frame, ProcessGap *gap)
{
        PayloadReader reader = payload_reader_new(frame);

        gap->process.pid_ns = payload_read_uint(&reader, 8);
        gap->process.pid = (int32_t)payload_read_uint(&reader, 4);
        gap->begin = payload_read_uint(&reader, 8);
        gap->end = payload_read_uint(&reader, 8);
        if (gap->begin > gap->end)
                return -EBADMSG;
        return payload_reader_result(&reader);
}

int ingest_get_stream_time(const IngestFrame *frame, uint32_t *ret_stream, uint64_t *ret_time)
{
        PayloadReader reader = payload_reader_new(frame);

        *ret_stream = (uint32_t)payload_read_uint(&reader, 4);
        *ret_time = payload_read_uint(&reader, 8);
        return payload_reader_result(&reader);
}

int ingest_get_stream_close(const IngestFrame *frame, uint32_t *ret_stream)
{
        PayloadReader reader = payload_reader_new(frame);

        *ret_stream = (uint32_t)payload_read_uint(&reader, 4);
        return payload_reader_result(&reader);
}

int ingest_get_report(const IngestFrame *frame, FeederReport *ret_report)
{
        PayloadReader reader = payload_reader_new(frame);

        ret_report->events = payload_read_uint(&reader, 8);
        ret_report->dotnet_events = payload_read_uint(&reader, 8);
        ret_report->unknown_events = payload_read_uint(&reader, 8);
        ret_report->decode_errors = payload_read_uint(&reader, 8);
        ret_report->later_events = reader.n_left ? payload_read_uint(&reader, 8) : 0;
        return payload_reader_result(&reader);
}

char *ingest_get_error(const IngestFrame *frame)
{
        PayloadReader reader = payload_reader_new(frame);
        uint32_t n = (uint32_t)payload_read_uint(&reader, 4);
        const uint8_t *bytes = payload_read_bytes(&reader, MIN(n, reader.n_left));
        g_autofree char *text = NULL;

        if (!bytes || n == 0)
                return g_strdup("no reason given");
        text = g_utf8_make_valid((const char *)bytes, (gssize)MIN(n, frame->n_payload - 4));
        /*
         * The text is printed to a terminal, and the peer may be hostile: remove control
         * characters.
         */
        for (char *at = text; *at; at++)
                if ((unsigned char)*at < 0x20 || *at == 0x7f)
                        *at = ' ';
        return g_steal_pointer(&text);
}
