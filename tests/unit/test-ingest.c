/* SPDX-License-Identifier: MIT */

/*
 * The frames of the ingest protocol: written frames are read again, and all other frames are
 * refused.
 */

#include "wire/ingest.h"

#include "support/suite.h"

#include <errno.h>
#include <string.h>

enum {
        N_ELEMENTS = 3,
        STREAM = 7,
        /* Offset of a RECORD's values: header, stream, time, namespace, pid, tid, event. */
        VALUES_BEGIN = INGEST_HEADER_SIZE + 4 + 8 + 8 + 4 + 4 + 1 + 1 + 2,
};

static const char *const TEXTS[] = {"", "a", "é日😀", "Namespace.Type`1[System.__Canon]"};

/* Returns a value for field I that differs from the values of all other fields. */
static Value value_of(const Event *event, unsigned i)
{
        static const uint8_t ELEMENTS[] = "01234567abcdefghABCDEFGH";
        const Field *field = &event->fields[i];
        Value value = {0};

        switch (field->type) {
        case FIELD_TYPE_U8:
                value.u = 0xf0 + i;
                break;
        case FIELD_TYPE_U16:
                value.u = 0xfe00 + i;
                break;
        case FIELD_TYPE_U32:
                value.u = 0xfedcba00 + i;
                break;
        case FIELD_TYPE_U64:
                value.u = UINT64_C(0xfedcba9876543200) + i;
                break;
        case FIELD_TYPE_BOOL:
                value.u = i % 2;
                break;
        case FIELD_TYPE_GUID:
                value.data = ELEMENTS + i % 8;
                value.n = 16;
                break;
        case FIELD_TYPE_WSTRING:
        case FIELD_TYPE_ASTRING:
                value.data = (const uint8_t *)TEXTS[i % G_N_ELEMENTS(TEXTS)];
                value.n = (uint32_t)strlen(TEXTS[i % G_N_ELEMENTS(TEXTS)]);
                break;
        default:
                value.data = ELEMENTS;
                value.n = N_ELEMENTS;
        }
        if (field->name == FIELD_CountOfMapEntries || field->name == FIELD_TypeParameterCount ||
            field->name == FIELD_DataSize)
                value.u = N_ELEMENTS;
        return value;
}

static void make_record(const Event *event, Record *ret_record)
{
        unsigned i;

        *ret_record = (Record){
                .event = event,
                .time = UINT64_C(0x8000000000000001),
                .process = {UINT64_C(0xf000000000000002), INT32_MAX},
                .tid = -3,
        };
        for (i = 0; i < event->n_fields; i++)
                ret_record->values[i] = value_of(event, i);
}

static size_t value_bytes(FieldType type, const Value *value)
{
        return type == FIELD_TYPE_GUID             ? 16
               : type == FIELD_TYPE_TYPE_LIST      ? value->n
               : field_type_is_string(type)        ? value->n
               : field_type_element_size(type) > 0 ? value->n * field_type_element_size(type)
                                                   : 0;
}

/* Reads the frame BYTES from a copy of exactly its size. */
static int read_record(const GByteArray *bytes, uint32_t *ret_stream, Record *ret_record,
                       uint8_t **ret_copy)
{
        IngestFrame frame;

        *ret_copy = g_memdup2(bytes->data, bytes->len);
        ck_assert_int_eq(ingest_frame_next(*ret_copy, bytes->len, &frame), bytes->len);
        ck_assert_int_eq(frame.type, INGEST_RECORD);
        return ingest_get_record(&frame, ret_stream, ret_record);
}

/* Shortens the payload of the only frame in BYTES to N bytes, and adjusts its header. */
static void cut_payload(GByteArray *bytes, size_t n)
{
        uint32_t length = GUINT32_TO_LE((uint32_t)n);

        g_byte_array_set_size(bytes, (guint)(INGEST_HEADER_SIZE + n));
        memcpy(bytes->data, &length, sizeof(length));
}

START_TEST(test_record)
{
        const Event *event = &event_table[_i];
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        g_autofree uint8_t *copy = NULL;
        Record record, again;
        uint32_t stream;
        unsigned i;

        make_record(event, &record);
        ck_assert(ingest_put_record(bytes, STREAM, &record));
        memset(&again, 0xee, sizeof(again));
        ck_assert_int_eq(read_record(bytes, &stream, &again, &copy), 0);
        ck_assert_uint_eq(stream, STREAM);
        ck_assert_ptr_eq(again.event, event);
        ck_assert(again.time == record.time && again.tid == record.tid);
        ck_assert(again.process.pid_ns == record.process.pid_ns);
        ck_assert_int_eq(again.process.pid, record.process.pid);
        for (i = 0; i < event->n_fields; i++) {
                const Value *want = &record.values[i], *got = &again.values[i];

                ck_assert_msg(got->u == want->u && got->n == want->n, "field %u", i);
                ck_assert_mem_eq(got->data ? got->data : (const uint8_t *)"",
                                 want->data ? want->data : (const uint8_t *)"",
                                 value_bytes(event->fields[i].type, want));
        }
}
END_TEST

/* A truncated frame is incomplete; a frame with a too short length is refused. */
START_TEST(test_record_truncated)
{
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        Record record, again;
        IngestFrame frame;
        uint32_t stream;
        size_t n;

        make_record(&event_table[_i], &record);
        ck_assert(ingest_put_record(bytes, STREAM, &record));
        for (n = 0; n < bytes->len; n++) {
                g_autofree uint8_t *copy = g_memdup2(bytes->data, n);

                ck_assert_int_eq(ingest_frame_next(copy, n, &frame), 0);
        }
        for (n = bytes->len - INGEST_HEADER_SIZE; n-- > 0;) {
                g_autofree uint8_t *copy = NULL;

                cut_payload(bytes, n);
                ck_assert_int_eq(read_record(bytes, &stream, &again, &copy), -EBADMSG);
        }
}
END_TEST

START_TEST(test_record_leftover)
{
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        g_autofree uint8_t *copy = NULL;
        Record record, again;
        uint32_t stream;

        make_record(&event_table[_i], &record);
        ck_assert(ingest_put_record(bytes, STREAM, &record));
        g_byte_array_append(bytes, (const uint8_t *)"", 1);
        cut_payload(bytes, bytes->len - INGEST_HEADER_SIZE);
        ck_assert_int_eq(read_record(bytes, &stream, &again, &copy), -EBADMSG);
}
END_TEST

/* Each length and count, in turn, has a wrong value. */
START_TEST(test_record_lying)
{
        static const uint32_t LIES[] = {
                0, 1, 2, 4, 16, 0x20000000u, 0x40000001u, 0x7fffffffu, 0x80000000u, 0xffffffffu};
        const Event *event = &event_table[_i];
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        size_t at = VALUES_BEGIN, j;
        Record record, again;
        uint32_t stream;
        unsigned i;

        make_record(event, &record);
        ck_assert(ingest_put_record(bytes, STREAM, &record));
        for (i = 0; i < event->n_fields; i++) {
                FieldType type = event->fields[i].type;
                size_t n = value_bytes(type, &record.values[i]);

                if (field_type_is_string(type) || field_type_element_size(type) ||
                    type == FIELD_TYPE_TYPE_LIST) {
                        uint32_t truth;

                        memcpy(&truth, bytes->data + at, sizeof(truth));
                        ck_assert_uint_eq(GUINT32_FROM_LE(truth), record.values[i].n);
                        for (j = 0; j < G_N_ELEMENTS(LIES); j++) {
                                g_autofree uint8_t *copy = NULL;
                                uint32_t lie = GUINT32_TO_LE(LIES[j]);

                                if (lie == truth)
                                        continue;
                                memcpy(bytes->data + at, &lie, sizeof(lie));
                                ck_assert_int_eq(read_record(bytes, &stream, &again, &copy),
                                                 -EBADMSG);
                        }
                        memcpy(bytes->data + at, &truth, sizeof(truth));
                        at += sizeof(truth) + n;
                } else {
                        at += type == FIELD_TYPE_GUID                            ? n
                              : type == FIELD_TYPE_U8 || type == FIELD_TYPE_BOOL ? 1
                              : type == FIELD_TYPE_U16                           ? 2
                              : type == FIELD_TYPE_U32                           ? 4
                                                                                 : 8;
                }
        }
        ck_assert_uint_eq(at, bytes->len);
}
END_TEST

/* The count of an array differs from the field that holds the count. */
START_TEST(test_record_count)
{
        const Event *event = event_by_id(PROVIDER_RUNTIME, 190, 1);
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        g_autofree uint8_t *copy = NULL;
        Record record, again;
        uint32_t stream;

        make_record(event, &record);
        record.values[event_field(event, FIELD_NativeOffsets)].n = N_ELEMENTS - 1;
        ck_assert(ingest_put_record(bytes, STREAM, &record));
        ck_assert_int_eq(read_record(bytes, &stream, &again, &copy), -EBADMSG);
}
END_TEST

/* Field and array agree on a count whose size in bytes overflows to 0 in 32 bits. */
START_TEST(test_record_wrap)
{
        const Event *event = event_by_id(PROVIDER_RUNTIME, 72, 0);
        int count = event_field(event, FIELD_TypeParameterCount);
        int array = event_field(event, FIELD_TypeParameters);
        const uint32_t lie = GUINT32_TO_LE(0x20000000u);
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        g_autofree uint8_t *copy = NULL;
        Record record, again;
        uint32_t stream;

        make_record(event, &record);
        record.values[count].u = 0;
        record.values[array].n = 0;
        ck_assert(ingest_put_record(bytes, STREAM, &record));
        /* The values of MethodID, TypeID and MethodToken precede the first count; the second count
         * is last. */
        memcpy(bytes->data + VALUES_BEGIN + 8 + 8 + 4, &lie, sizeof(lie));
        memcpy(bytes->data + bytes->len - sizeof(lie), &lie, sizeof(lie));
        ck_assert_int_eq(read_record(bytes, &stream, &again, &copy), -EBADMSG);
}
END_TEST

static const struct {
        const char *text;
        uint32_t n;
        int result;
} STRINGS[] = {
        {"abc", 3, 0},
        {"\xc3\xa9", 2, 0},
        {"\xf4\x8f\xbf\xbf", 4, 0},
        {"a\0b", 3, -EBADMSG},
        {"\0", 1, -EBADMSG},
        {"\xc3", 1, -EBADMSG},
        {"\x80", 1, -EBADMSG},
        {"\xff\xfe", 2, -EBADMSG},
        {"\xc0\x80", 2, -EBADMSG},         /* NUL in two bytes */
        {"\xed\xa0\x80", 3, -EBADMSG},     /* half of a surrogate pair */
        {"\xf4\x90\x80\x80", 4, -EBADMSG}, /* after the last code point */
};

START_TEST(test_record_string)
{
        const Event *event = event_by_id(PROVIDER_RUNTIME, 143, 1);
        int field = event_field(event, FIELD_MethodName);
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        g_autofree uint8_t *copy = NULL;
        Record record, again;
        uint32_t stream;

        make_record(event, &record);
        record.values[field] =
                (Value){.data = (const uint8_t *)STRINGS[_i].text, .n = STRINGS[_i].n};
        ck_assert(ingest_put_record(bytes, STREAM, &record));
        ck_assert_int_eq(read_record(bytes, &stream, &again, &copy), STRINGS[_i].result);
        if (STRINGS[_i].result == 0)
                ck_assert_mem_eq(again.values[field].data, STRINGS[_i].text, STRINGS[_i].n);
}
END_TEST

START_TEST(test_record_bool)
{
        const Event *event = event_by_id(PROVIDER_RUNTIME, 188, 0);
        int field = event_field(event, FIELD_TailPrefix);
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        Record record, again;
        uint32_t stream;

        make_record(event, &record);
        record.values[field].u = 0x100; /* not 0, so true */
        ck_assert(ingest_put_record(bytes, STREAM, &record));
        {
                g_autofree uint8_t *copy = NULL;

                ck_assert_int_eq(read_record(bytes, &stream, &again, &copy), 0);
                ck_assert_uint_eq(again.values[field].u, 1);
        }
        /* The last three fields are TailPrefix, TailCallType and ClrInstanceID. */
        ck_assert_int_eq(field, event->n_fields - 3);
        bytes->data[bytes->len - 1 - 4 - 2] = 2;
        {
                g_autofree uint8_t *copy = NULL;

                ck_assert_int_eq(read_record(bytes, &stream, &again, &copy), -EBADMSG);
        }
}
END_TEST

/* Events that have no row in this build. */
START_TEST(test_record_unknown)
{
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        Record record, again;
        uint32_t stream;
        unsigned i;
        static const uint8_t NONE[][4] = {
                {PROVIDER_RUNTIME, 3, 152, 0}, /* ModuleLoad_V3 */
                {_PROVIDER_MAX, 0, 143, 0},    /* no such provider */
                {255, 255, 255, 255},          /* nothing similar */
                {PROVIDER_RUNDOWN, 0, 72, 0},  /* event of the other provider */
        };

        make_record(&event_table[0], &record);
        ck_assert(ingest_put_record(bytes, STREAM, &record));
        for (i = 0; i < G_N_ELEMENTS(NONE); i++) {
                g_autofree uint8_t *copy = NULL;

                memcpy(bytes->data + VALUES_BEGIN - 4, NONE[i], 4);
                ck_assert_int_eq(read_record(bytes, &stream, &again, &copy), -ENOENT);
        }
}
END_TEST

START_TEST(test_record_large)
{
        const Event *event = event_by_id(PROVIDER_RUNTIME, 143, 1);
        int field = event_field(event, FIELD_MethodSignature);
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        g_autofree char *text = g_strnfill(INGEST_MAX_PAYLOAD, 'x');
        g_autofree uint8_t *copy = NULL;
        Record record, again;
        uint32_t stream;

        make_record(event, &record);
        record.values[field] = (Value){.data = (const uint8_t *)text, .n = 0};
        ck_assert(ingest_put_record(bytes, STREAM, &record));
        record.values[field].n = INGEST_MAX_PAYLOAD - (bytes->len - INGEST_HEADER_SIZE);
        g_byte_array_set_size(bytes, 0);
        ck_assert(ingest_put_record(bytes, STREAM, &record));
        ck_assert_uint_eq(bytes->len, INGEST_HEADER_SIZE + INGEST_MAX_PAYLOAD);
        ck_assert_int_eq(read_record(bytes, &stream, &again, &copy), 0);
        ck_assert_uint_eq(again.values[field].n, record.values[field].n);

        record.values[field].n++;
        ck_assert(!ingest_put_record(bytes, STREAM, &record));
        ck_assert_uint_eq(bytes->len, INGEST_HEADER_SIZE + INGEST_MAX_PAYLOAD);
}
END_TEST

static const struct {
        uint8_t header[INGEST_HEADER_SIZE];
        ssize_t result;
} HEADERS[] = {
        {{0, 0, 0, 0, INGEST_COMMIT, 0, 0, 0}, INGEST_HEADER_SIZE},
        {{0, 0, 0x10, 0, INGEST_RECORD, 0, 0, 0}, 0},        /* the largest payload */
        {{1, 0, 0x10, 0, INGEST_RECORD, 0, 0, 0}, -EBADMSG}, /* one byte more */
        {{255, 255, 255, 255, INGEST_RECORD, 0, 0, 0}, -EBADMSG},
        {{0, 0, 0, 0x80, INGEST_RECORD, 0, 0, 0}, -EBADMSG},
        {{0, 0, 0, 0, INGEST_COMMIT, 0, 1, 0}, -EBADMSG}, /* reserved bytes are not zero */
        {{'G', 'E', 'T', ' ', '/', ' ', 'H', 'T'}, -EBADMSG},
        {{'{', '"', 'm', 'e', 't', 'h', 'o', 'd'}, -EBADMSG},
};

START_TEST(test_header)
{
        IngestFrame frame;

        ck_assert_int_eq(ingest_frame_next(HEADERS[_i].header, INGEST_HEADER_SIZE, &frame),
                         HEADERS[_i].result);
}
END_TEST

/* Decodes FRAME according to its type. */
static int decode(const IngestFrame *frame)
{
        g_autofree char *text = NULL;
        StreamIdentity *stream;
        ProcessGap process_gap;
        FeederReport report;
        uint32_t number;
        uint64_t time;
        StreamGap gap;
        int r;

        switch ((int)frame->type) {
        case INGEST_HELLO:
                return ingest_get_hello(frame, &number);
        case INGEST_STREAM_OPEN:
                stream = stream_identity_new();
                r = ingest_get_stream_open(frame, &number, stream);
                stream_identity_free(stream);
                return r;
        case INGEST_GAP:
                return ingest_get_gap(frame, &number, &gap);
        case INGEST_PROGRESS:
        case INGEST_ACK:
                return ingest_get_stream_time(frame, &number, &time);
        case INGEST_STREAM_CLOSE:
                return ingest_get_stream_close(frame, &number);
        case INGEST_REPORT:
                return ingest_get_report(frame, &report);
        case INGEST_PROCESS_GAP:
                return ingest_get_process_gap(frame, &process_gap);
        default:
                ck_abort_msg("frame type %d", (int)frame->type);
        }
}

static void put_example(GByteArray *bytes, int type)
{
        StreamIdentity *stream;

        switch (type) {
        case INGEST_HELLO:
                ingest_put_hello(bytes, INGEST_VERSION, "test é");
                return;
        case INGEST_STREAM_OPEN:
                stream = stream_identity_new();
                memcpy(stream->trace_uuid, "0123456789abcdef", 16);
                stream->class_id = UINT64_MAX;
                stream->stream_id = 1;
                stream->scheme = BUFFER_SCHEME_PER_PID;
                stream->pid = -5;
                g_string_assign(stream->hostname, "host");
                g_string_assign(stream->clock_name, "monotonic");
                stream->clock_offset = INT64_MIN;
                ingest_put_stream_open(bytes, STREAM, stream);
                stream_identity_free(stream);
                return;
        case INGEST_GAP:
                ingest_put_gap(bytes, STREAM,
                               &(StreamGap){GAP_PACKETS, 5, UINT64_MAX, GAP_COUNT_UNKNOWN});
                return;
        case INGEST_PROGRESS:
                ingest_put_progress(bytes, STREAM, UINT64_MAX);
                return;
        case INGEST_ACK:
                ingest_put_ack(bytes, STREAM, UINT64_MAX);
                return;
        case INGEST_STREAM_CLOSE:
                ingest_put_stream_close(bytes, STREAM);
                return;
        case INGEST_REPORT:
                ingest_put_report(bytes, &(FeederReport){1, 2, 3, UINT64_MAX, 0});
                return;
        case INGEST_PROCESS_GAP:
                ingest_put_process_gap(bytes, &(ProcessGap){{UINT64_MAX - 1, -7}, 5, UINT64_MAX});
                return;
        }
}

static const int TYPES[] = {INGEST_HELLO, INGEST_STREAM_OPEN,  INGEST_GAP,    INGEST_PROGRESS,
                            INGEST_ACK,   INGEST_STREAM_CLOSE, INGEST_REPORT, INGEST_PROCESS_GAP};

START_TEST(test_frame)
{
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        IngestFrame frame;
        size_t n, n_payload;

        put_example(bytes, TYPES[_i]);
        ck_assert_int_eq(ingest_frame_next(bytes->data, bytes->len, &frame), bytes->len);
        ck_assert_int_eq(frame.type, TYPES[_i]);
        ck_assert_int_eq(decode(&frame), 0);
        n_payload = frame.n_payload;
        for (n = 0; n <= n_payload + 1; n++) {
                g_autofree uint8_t *copy = g_malloc0(MAX(n, 1));

                memcpy(copy, bytes->data + INGEST_HEADER_SIZE, MIN(n, n_payload));
                frame = (IngestFrame){(IngestType)TYPES[_i], copy, (uint32_t)n};
                ck_assert_int_eq(decode(&frame), n == n_payload ? 0 : -EBADMSG);
        }
}
END_TEST

START_TEST(test_stream_open)
{
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        StreamIdentity *stream = stream_identity_new();
        IngestFrame frame;
        uint32_t number;

        put_example(bytes, INGEST_STREAM_OPEN);
        g_string_assign(stream->boot_id, "left from before");
        ingest_frame_next(bytes->data, bytes->len, &frame);
        ck_assert_int_eq(ingest_get_stream_open(&frame, &number, stream), 0);
        ck_assert_uint_eq(number, STREAM);
        ck_assert_mem_eq(stream->trace_uuid, "0123456789abcdef", 16);
        ck_assert(stream->class_id == UINT64_MAX && stream->stream_id == 1);
        ck_assert(stream->scheme == BUFFER_SCHEME_PER_PID && stream->uid == UINT32_MAX);
        ck_assert_int_eq(stream->pid, -5);
        ck_assert_str_eq(stream->hostname->str, "host");
        ck_assert_str_eq(stream->boot_id->str, "");
        ck_assert_str_eq(stream->clock_name->str, "monotonic");
        ck_assert(stream->clock_offset == INT64_MIN);

        /* Offset of the scheme: after number, UUID, class and stream id. */
        bytes->data[INGEST_HEADER_SIZE + 4 + 16 + 8 + 8] = _BUFFER_SCHEME_MAX;
        ck_assert_int_eq(ingest_get_stream_open(&frame, &number, stream), -EBADMSG);
        stream_identity_free(stream);
}
END_TEST

START_TEST(test_gap)
{
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        IngestFrame frame;
        uint32_t number;
        StreamGap gap;

        put_example(bytes, INGEST_GAP);
        ingest_frame_next(bytes->data, bytes->len, &frame);
        ck_assert_int_eq(ingest_get_gap(&frame, &number, &gap), 0);
        ck_assert(number == STREAM && gap.kind == GAP_PACKETS && gap.begin == 5 &&
                  gap.end == UINT64_MAX && gap.count == GAP_COUNT_UNKNOWN);
        bytes->data[INGEST_HEADER_SIZE + 4] = _GAP_KIND_MAX;
        ck_assert_int_eq(ingest_get_gap(&frame, &number, &gap), -EBADMSG);

        g_byte_array_set_size(bytes, 0);
        ingest_put_gap(bytes, STREAM, &(StreamGap){GAP_EVENTS, 6, 5, 1});
        ingest_frame_next(bytes->data, bytes->len, &frame);
        ck_assert_int_eq(ingest_get_gap(&frame, &number, &gap), -EBADMSG);
}
END_TEST

START_TEST(test_process_gap)
{
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        ProcessGap gap;
        IngestFrame frame;

        put_example(bytes, INGEST_PROCESS_GAP);
        ingest_frame_next(bytes->data, bytes->len, &frame);
        ck_assert_int_eq(ingest_get_process_gap(&frame, &gap), 0);
        ck_assert(gap.process.pid_ns == UINT64_MAX - 1 && gap.process.pid == -7 && gap.begin == 5 &&
                  gap.end == UINT64_MAX);

        g_byte_array_set_size(bytes, 0);
        ingest_put_process_gap(bytes, &(ProcessGap){{1, 2}, 6, 5});
        ingest_frame_next(bytes->data, bytes->len, &frame);
        ck_assert_int_eq(ingest_get_process_gap(&frame, &gap), -EBADMSG);
}
END_TEST

START_TEST(test_report)
{
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        FeederReport report;
        IngestFrame frame;

        put_example(bytes, INGEST_REPORT);
        ingest_frame_next(bytes->data, bytes->len, &frame);
        ck_assert_int_eq(ingest_get_report(&frame, &report), 0);
        ck_assert(report.events == 1 && report.dotnet_events == 2 && report.unknown_events == 3 &&
                  report.decode_errors == UINT64_MAX && report.later_events == 0);
        g_byte_array_set_size(bytes, 0);
        ingest_put_report(bytes, &(FeederReport){1, 2, 3, 5, 4});
        ingest_frame_next(bytes->data, bytes->len, &frame);
        ck_assert_int_eq(ingest_get_report(&frame, &report), 0);
        ck_assert(report.decode_errors == 5 && report.later_events == 4);
}
END_TEST

/* An error is printed on a terminal, so it must not contain control characters, whoever sent it. */
static const struct {
        const char *payload;
        uint32_t n;
        const char *text;
} ERRORS[] = {
        {"\x04\0\0\0what", 8, "what"},           {"\xff\xff\xff\xffwhat", 8, "what"},
        {"\x04\0\0\0a\x1b[m", 8, "a [m"},        {"\x03\0\0\0a\n\x7f", 7, "a  "},
        {"\x02\0\0\0a\xff", 6, "a\xef\xbf\xbd"}, {"\0\0\0\0", 4, "no reason given"},
        {"\x04\0\0", 3, "no reason given"},      {"", 0, "no reason given"},
};

START_TEST(test_error)
{
        g_autofree uint8_t *copy = g_memdup2(ERRORS[_i].payload, ERRORS[_i].n);
        const IngestFrame frame = {INGEST_ERROR, copy, ERRORS[_i].n};
        g_autofree char *text = ingest_get_error(&frame);

        ck_assert_str_eq(text, ERRORS[_i].text);
}
END_TEST

START_TEST(test_long_text)
{
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        g_autoptr(GString) text = g_string_new("x");
        g_autofree char *again = NULL;
        IngestFrame frame;

        while (text->len < 2 * INGEST_MAX_PAYLOAD)
                g_string_append(text, "é");
        ingest_put_error(bytes, text->str);
        ck_assert_int_gt(ingest_frame_next(bytes->data, bytes->len, &frame), 0);
        again = ingest_get_error(&frame);
        /* The text is truncated between two characters. */
        ck_assert(g_str_has_prefix(text->str, again));
        ck_assert(strlen(again) > 100 && g_str_has_suffix(again, "é"));
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("ingest");
        TCase *tcase = tcase_create("ingest");

        tcase_add_loop_test(tcase, test_record_string, 0, G_N_ELEMENTS(STRINGS));
        tcase_add_loop_test(tcase, test_record_truncated, 0, (int)n_event_table);
        tcase_add_loop_test(tcase, test_record_leftover, 0, (int)n_event_table);
        tcase_add_loop_test(tcase, test_record_lying, 0, (int)n_event_table);
        tcase_add_test(tcase, test_record_count);
        tcase_add_test(tcase, test_record_wrap);
        tcase_add_test(tcase, test_record_bool);
        tcase_add_test(tcase, test_record_unknown);
        tcase_add_test(tcase, test_record_large);
        tcase_add_loop_test(tcase, test_record, 0, (int)n_event_table);
        tcase_add_loop_test(tcase, test_header, 0, G_N_ELEMENTS(HEADERS));
        tcase_add_loop_test(tcase, test_frame, 0, G_N_ELEMENTS(TYPES));
        tcase_add_test(tcase, test_stream_open);
        tcase_add_test(tcase, test_gap);
        tcase_add_test(tcase, test_process_gap);
        tcase_add_test(tcase, test_report);
        tcase_add_loop_test(tcase, test_error, 0, G_N_ELEMENTS(ERRORS));
        tcase_add_test(tcase, test_long_text);
        suite_add_tcase(suite, tcase);
        return suite;
}
